"""Files that people attach: name and size are checked before anything is fetched."""

from pathlib import PurePath

import discord

from kernelbot.domain.errors import InvalidSubmission, SubmissionTooLarge
from kernelbot.protocol import Lang
from kernelbot.submissions.source import MAX_SOURCE_BYTES, listed_suffixes

_ZIP = b"PK\x03\x04"


async def source_of(file: discord.Attachment) -> bytes:
    """A source file's content. Raises `InvalidSubmission`, `SubmissionTooLarge`."""
    suffix = PurePath(file.filename).suffix.lower()
    if suffix == ".zip":
        raise _zipped()
    if Lang.by_suffix(suffix) is None:
        raise InvalidSubmission(
            f"{file.filename!r} isn't a source file.",
            hint=f"Attach one whose name ends in {listed_suffixes()}.",
        )
    if file.size > MAX_SOURCE_BYTES:
        raise SubmissionTooLarge(
            f"The file is larger than {MAX_SOURCE_BYTES >> 20} MiB, the most that is taken."
        )
    content = await file.read()
    if content.startswith(_ZIP):
        raise _zipped()
    return content


def _zipped() -> InvalidSubmission:
    return InvalidSubmission(
        "A zip can't be submitted: a submission is a single source file.",
        hint="Attach that file itself.",
    )
