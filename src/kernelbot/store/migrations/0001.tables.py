"""Every table of the first release. Change them by a migration after this one."""

from typing import Any

from yoyo import step

from kernelbot.store.schema import tables


def _create(connection: Any) -> None:
    connection.cursor().execute(tables())


steps = [step(_create)]
