"""Syncing problems: `sync`."""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

from kernelbot.boards.model import Visibility
from kernelbot.boards.sync.model import SyncAction, SyncOptions
from kernelbot.cli.declaring import Argument, Commands, Exit, Option
from kernelbot.cli.errors import ACCEPTED, USAGE
from kernelbot.cli.examples import examples
from kernelbot.cli.options import Json, Url
from kernelbot.cli.session import connect
from kernelbot.cli.terminal import Terminal
from kernelbot.domain.errors import UserError

if TYPE_CHECKING:
    from kernelbot.boards.sync.model import SyncOutcome
    from kernelbot.client import KernelbotClient

_SIGNS = {
    SyncAction.CREATE: "+",
    SyncAction.UPDATE: "~",
    SyncAction.SKIP: "·",
    SyncAction.ERROR: "✗",
}


def register(app: Commands) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "kernelbot sync https://git.example.org/kernels.git --ref spring --dry-run",
            "kernelbot sync gpu-mode/reference-kernels --only pmpp_v2",
            "kernelbot sync ./my-problems",
            "kernelbot sync problems.tar.gz",
            "Exit codes: 0 fine; 2 some board could not be synced.",
        )
    )(sync)


def sync(
    source: Annotated[
        str | None,
        Argument(
            help="A repository's URL or owner/name, a folder or an archive on this disk. "
            "Default: the server's PROBLEMS_REPO.",
            show_default=False,
        ),
    ] = None,
    ref: Annotated[
        str | None,
        Option(help="A branch, tag or commit. Default: its own.", show_default=False),
    ] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Show the plan, change nothing.")] = False,
    force: Annotated[
        bool, Option("--force", help="Also boards past their deadline, or made by others.")
    ] = False,
    only: Annotated[
        str | None, Option(help="Only the competition file of this name.", show_default=False)
    ] = None,
    closed: Annotated[bool, Option("--closed", help="New boards only for those invited.")] = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Create and update boards from competition files. For admins.

    A changed problem becomes a new version; scores stay with the version they were measured on.
    """
    terminal = Terminal(as_json)
    visibility = Visibility.CLOSED if closed else Visibility.PUBLIC
    options = SyncOptions(force, dry_run, only, visibility)
    with connect(url, terminal) as client:
        outcome = _send(client, source, ref, options)
    _show(outcome, terminal)
    failed = any(item.action is SyncAction.ERROR for item in outcome.items)
    raise Exit(USAGE if failed else ACCEPTED)


def _send(
    client: KernelbotClient, source: str | None, ref: str | None, options: SyncOptions
) -> SyncOutcome:
    path = Path(source) if source is not None and "://" not in source else None
    if path is None or not path.exists():
        return _from_repository(client, source, ref, options)
    if ref is not None:
        raise UserError(
            "--ref is for repositories.", hint=f"To read one on this disk: file://{path.resolve()}"
        )
    try:
        with _packed(path) if path.is_dir() else path.open("rb") as archive:
            return client.organise.sync_archive(path.resolve().name, archive, options)
    except OSError as error:
        why = error.strerror or error  # without one if a file became shorter while it was packed
        raise UserError(f"{error.filename or path} can't be read: {why}.") from None


def _from_repository(
    client: KernelbotClient, source: str | None, ref: str | None, options: SyncOptions
) -> SyncOutcome:
    from kernelbot.client import Refused

    try:
        return client.organise.sync(source, ref, options)
    except Refused as error:
        if source is not None and "://" not in source:
            error.hint = (
                f"There is no folder or archive {source} here, so it was taken for a repository. "
                f"{error.hint}".rstrip()
            )
        raise


@contextmanager
def _packed(folder: Path) -> Iterator[IO[bytes]]:
    """The folder's plain files, packed; links and hidden folders are left out."""
    with tempfile.TemporaryFile() as file:
        with tarfile.open(fileobj=file, mode="w:gz") as tar:
            for path in sorted(folder.rglob("*")):
                name = path.relative_to(folder)
                hidden = any(part.startswith(".") for part in name.parts)
                if path.is_file() and not path.is_symlink() and not hidden:
                    tar.add(path, arcname=name.as_posix(), recursive=False)
        file.seek(0)
        yield file


def _show(outcome: SyncOutcome, terminal: Terminal) -> None:
    from kernelbot.render.text import indent, printable

    for item in outcome.items:
        first, *rest = printable(item.reason).splitlines() or [""]
        terminal.show(f"{_SIGNS[item.action]} {item.action:6} {printable(item.board)}: {first}")
        if rest:
            terminal.show(indent("\n".join(rest), "    "))
    for warning in outcome.warnings:
        terminal.show(f"Note: {printable(warning)}")
    at = f" at {outcome.commit[:12]}" if outcome.commit else ""
    count = sum(item.action in (SyncAction.CREATE, SyncAction.UPDATE) for item in outcome.items)
    verb = "changed" if outcome.applied else "would change"
    errors = len(outcome.with_action(SyncAction.ERROR))  # of boards, or of whole files
    readable = len(outcome.items) - errors
    more = f" Not read because of mistakes: {errors}." if errors else ""
    terminal.show(f"{printable(outcome.source)}{at}: {count} of {readable} boards {verb}.{more}")
    terminal.document(outcome)
