"""`submission artifacts`: the files that runs left; and writing those of a `run` to the disk."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from kernelbot.cli.declaring import Argument, Commands, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.options import Json, Url
from kernelbot.cli.session import connected
from kernelbot.cli.terminal import columns
from kernelbot.domain.errors import UserError

if TYPE_CHECKING:
    from kernelbot.protocol import Artifact
    from kernelbot.runs.files import RunFile

Id = Annotated[int, Argument(min=1, help="The submission's number.")]


def register(group: Commands) -> None:
    """Add the command to `submission`."""
    group.command(
        epilog=examples(
            "kernelbot submission artifacts 12", "kernelbot submission artifacts 12 --save profile"
        )
    )(artifacts)


def artifacts(
    submission_id: Id,
    save: Annotated[
        Path | None, Option(help="Download all of them into this folder.", show_default=False)
    ] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """List the files that came out of a submission's runs, or download them.

    With --save, files of the same name are replaced.
    """
    from kernelbot.render.table import table
    from kernelbot.render.text import one_line

    with connected(url, as_json) as (terminal, client):
        found = client.artifacts(submission_id)
        if save is not None:
            make_folder(save)
            for entry, path in _paths(found.artifacts, save):
                size = client.artifact(submission_id, entry.run_id, entry.name, path)
                terminal.show(f"{path}: {size:,} bytes")
            terminal.document(found)
            return
    rows = [
        (one_line(f.name), f.device, one_line(f.media_type), f"{f.size_bytes:,}")
        for f in found.artifacts
    ]
    none = "No files: only runs in mode profile leave some."
    headers = ("name", "device", "type", "bytes")
    terminal.show(table(headers, rows, right=("bytes",), columns=columns()) if rows else none)
    terminal.document(found)


def save_all(found: Iterable[Artifact], folder: Path) -> list[Path]:
    """Write a result's files into a folder, which is created; returns their paths. Raises
    `UserError` if they can't be written."""
    from kernelbot.runs.files import under_safe_names

    make_folder(folder)
    written = []
    for artifact in under_safe_names(found):
        path = folder / artifact.name
        try:
            path.write_bytes(base64.b64decode(artifact.content_base64))
        except OSError as error:
            raise UserError(f"{path} can't be written: {error.strerror}.") from None
        written.append(path)
    return written


def make_folder(folder: Path) -> None:
    """Raises `UserError`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder} can't be made: {error.strerror}.") from None


def _paths(found: Iterable[RunFile], folder: Path) -> list[tuple[RunFile, Path]]:
    """The path of each: its name, in a folder for each run if there are several.

    A file name that a server sent isn't trusted as a path.
    """
    from kernelbot.runs.files import safe_name

    entries = list(found)
    several = len({entry.run_id for entry in entries}) > 1
    places = []
    for entry in entries:
        place = folder / f"run-{entry.run_id}" if several else folder
        make_folder(place)
        places.append((entry, place / safe_name(entry.name)))
    return places
