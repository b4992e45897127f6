"""What judging depended on until the list of devices left it."""

import hashlib
import json
from typing import LiteralString

import psycopg

from kernelbot.boards.model import ProblemDefinition
from kernelbot.protocol import from_wire, to_wire

_LATER_UNDONE: LiteralString = """
DROP INDEX deliveries_untold, deliveries_guild, announcements_of_news;
CREATE INDEX deliveries_due ON deliveries (guild_id, next_at);
"""
"""Migrations come in their order: so those after it are still to come as well."""


def with_devices(definition: ProblemDefinition) -> bytes:
    """The hash that servers of the release before make."""
    judged = [to_wire(definition.spec), list(definition.devices)]
    return hashlib.sha256(json.dumps(judged, ensure_ascii=False).encode()).digest()


def make_former(url: str, migration: str = "0029.judged_without_devices") -> None:
    """Make a database one of before the migration: its hashes are of then, and so are rankings.
    What was withdrawn was so on the first of the versions that are judged alike."""
    with psycopg.connect(url) as connection:
        versions = connection.execute(
            "SELECT id, judging_hash, definition FROM problem_versions ORDER BY id"
        ).fetchall()
        connection.execute("ALTER TABLE problem_versions DISABLE TRIGGER USER")
        for number, judging_hash, wire in versions:
            former = with_devices(from_wire(ProblemDefinition, wire))
            connection.execute(
                "UPDATE problem_versions SET judging_hash = %s WHERE id = %s", (former, number)
            )
            connection.execute(
                "UPDATE withdrawn_sources SET judging_hash = %s WHERE judging_hash = %s",
                (former, judging_hash),
            )
        connection.execute("ALTER TABLE problem_versions ENABLE TRIGGER USER")
        connection.execute("SELECT rebuild_standings()")
        connection.execute(_LATER_UNDONE)
        connection.execute("DELETE FROM _yoyo_migration WHERE migration_id >= %s", (migration,))
