"""What build steps have made, by what they were made of; and who is building what."""

import base64
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kernelbot.preflight.model import PreflightReport
from kernelbot.protocol import Product, from_wire, to_wire
from kernelbot.schemas.values import plain
from kernelbot.store.database import ReadSession, Row, WriteSession
from kernelbot.store.jsontext import dumps
from kernelbot.store.sqlfiles import statements
from kernelbot.submissions.preflights.store import read_report

_OF_A_ROW_BYTES = 1024


@dataclass(frozen=True)
class BuildRequest:
    """A build that isn't there yet. `key`: see `protocol.building`; `attempt_id`: of the run that
    has it built."""

    key: bytes
    source_sha256: bytes
    attempt_id: int

    @property
    def values(self) -> dict[str, Any]:
        """For statements."""
        return {"key": self.key, "attempt_id": self.attempt_id}


@dataclass(frozen=True)
class Built:
    """A build that is there; `product` None: there is nothing to carry. `report`: for whoever
    submits the source; None: there is nothing to tell."""

    product: Product | None
    report: PreflightReport | None = None


@dataclass(frozen=True)
class Begun:
    """A build that is this attempt's to make. `tries`: how many of its jobs were lost; `handle`: of
    the one that was launched by `launcher`; None: none is known."""

    tries: int = 0
    launcher: str | None = None
    handle: str | None = None


@dataclass(frozen=True)
class Unreported:
    """A run whose submission has no report of compilers for its device."""

    run_id: int
    submission_id: int
    device: str
    problem_version_id: int
    file_name: str
    code: str


async def next_without_report(
    session: ReadSession, devices: Sequence[str], seen: Collection[int]
) -> Unreported | None:
    """The first public run beside those of `seen` that is open; None: there is none."""
    values = {"devices": list(devices), "seen": list(seen)}
    row = await session.one(statements(__file__)["next_without_report"], values)
    return None if row is None else Unreported(**row)


async def open_among(session: ReadSession, run_ids: Collection[int]) -> set[int]:
    """The runs among these that are open."""
    rows = await session.all(statements(__file__)["open_among"], {"ids": list(run_ids)})
    return {row["id"] for row in rows}


async def lock_open_run(session: WriteSession, run_id: int) -> bool:
    """Whether the run is open, and stays so until the transaction ends."""
    found = await session.one(statements(__file__)["lock_open_run"], {"run_id": run_id})
    return found is not None


async def find(session: WriteSession, key: bytes) -> Built | None:
    """The build, which is in use now; None if it isn't there (yet)."""
    row = await session.one(statements(__file__)["find"], {"key": key})
    return None if row is None else Built(_product(row), read_report(row["preflight"]))


async def start_build(session: WriteSession, build: BuildRequest) -> Begun | None:
    """Make it this attempt's; None: another's has it, or it is there by now."""
    values = {**build.values, "source_sha256": build.source_sha256}
    row = await session.one(statements(__file__)["begin"], values)
    return None if row is None else Begun(**row)


async def launched(session: WriteSession, build: BuildRequest, begun: Begun) -> bool:
    """Store the job that makes it; False: it isn't the attempt's any more, or is there."""
    values = {
        **build.values,
        "tries": begun.tries,
        "launcher": begun.launcher,
        "handle": begun.handle,
    }
    return await session.do(statements(__file__)["launched"], values) == 1


async def keep(session: WriteSession, build: BuildRequest, built: Built) -> bool:
    """Store what was built. False as in `launched`: then it isn't."""
    values: dict[str, Any] = {"sha256": None, "described": None, "content": None}
    values["preflight"] = None if built.report is None else dumps(plain(built.report))
    product = built.product
    if product is not None:
        values |= {
            "sha256": bytes.fromhex(product.sha256),
            "described": dumps(to_wire(replace(product, content_base64=""))),
            "content": base64.b64decode(product.content_base64),
        }
    return await session.do(statements(__file__)["keep"], {**build.values, **values}) == 1


async def drop(session: WriteSession, build: BuildRequest) -> None:
    """Nothing comes of it; another attempt may begin it."""
    await session.do(statements(__file__)["drop"], build.values)


async def evict(session: WriteSession, limit_bytes: int) -> int:
    """Remove what wasn't used for longest until the rest fits; returns how many went."""
    values = {"limit_bytes": limit_bytes, "of_a_row_bytes": _OF_A_ROW_BYTES}
    return await session.do(statements(__file__)["evict"], values)


async def product(session: ReadSession, sha256: str) -> Product | None:
    """The product of this hash; None if it is deleted, or none is named."""
    if not sha256:
        return None
    values = {"sha256": bytes.fromhex(sha256)}
    row = await session.one(statements(__file__)["product"], values)
    return None if row is None else _product(row)


def _product(row: Row) -> Product | None:
    """None also for one of another release, which this one can't read: then it is built again."""
    if row["content"] is None:
        return None
    try:
        found = from_wire(Product, row["described"])
    except ValueError:  # `WireError`, `VersionMismatch`
        return None
    return replace(found, content_base64=base64.b64encode(row["content"]).decode("ascii"))
