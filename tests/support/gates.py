"""Gates: places in the database where a session waits until the test lets it through."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import LiteralString

import psycopg

_KEY = 4242


class Gate(StrEnum):
    """Where a worker is held."""

    QUEUED = "queued"
    LAUNCHED = "launched"
    RESULT_WRITTEN = "result_written"
    COMMITTING = "committing"


_TRIGGERS: dict[Gate, LiteralString] = {
    Gate.QUEUED: "CREATE TRIGGER gate BEFORE INSERT ON attempts",
    Gate.LAUNCHED: "CREATE TRIGGER gate BEFORE UPDATE OF handle ON attempts",
    Gate.RESULT_WRITTEN: "CREATE TRIGGER gate BEFORE UPDATE OF result ON attempts",
    Gate.COMMITTING: "CREATE CONSTRAINT TRIGGER gate AFTER INSERT ON measurements "
    "DEFERRABLE INITIALLY DEFERRED",
}


class ClosedGate:
    """A gate that nobody passes until it is opened."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection

    def wait_for_someone(self, timeout_s: float = 60.0) -> None:
        """Return when a backend stands before it."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            row = self._connection.execute(
                "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
                " WHERE l.locktype = 'advisory' AND l.objid = %s AND NOT l.granted"
                " AND d.datname = current_database()",
                (_KEY,),
            ).fetchone()
            if row and row[0]:
                return
            time.sleep(0.01)
        raise TimeoutError("nobody came to the gate")


@contextmanager
def closed_gate(url: str, gate: Gate) -> Iterator[ClosedGate]:
    """Closed while the block runs, and gone afterwards."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "CREATE OR REPLACE FUNCTION pass_gate() RETURNS trigger LANGUAGE plpgsql AS"
            f" 'BEGIN PERFORM pg_advisory_xact_lock_shared({_KEY}); RETURN NEW; END'"
        )
        connection.execute("SELECT pg_advisory_lock(%s)", (_KEY,))
        connection.execute(_TRIGGERS[gate] + " FOR EACH ROW EXECUTE FUNCTION pass_gate()")
        try:
            yield ClosedGate(connection)
        finally:
            connection.execute("SELECT pg_advisory_unlock(%s)", (_KEY,))
            table: LiteralString = "measurements" if gate == Gate.COMMITTING else "attempts"
            connection.execute("DROP TRIGGER gate ON " + table)
