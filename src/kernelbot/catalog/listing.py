"""What a problem says of itself for lists of boards: a sentence, how hard it is, tags."""

import re
from collections.abc import Iterator

from kernelbot.boards.model import Difficulty
from kernelbot.catalog.fields import DefinitionFindings, Fields
from kernelbot.protocol.late import dataclass

MAX_SUMMARY = 200
MAX_TAGS = 8
_TAG = re.compile(r"[a-z0-9][a-z0-9+.-]{0,23}")


@dataclass(frozen=True)
class ProblemListing:
    """The three, each empty if the problem doesn't say it."""

    summary: str
    difficulty: Difficulty | None
    tags: tuple[str, ...]


def read_listing(fields: Fields, findings: DefinitionFindings) -> ProblemListing:
    """The keys `summary`, `difficulty` and `tags`."""
    summary = fields.text("summary").strip()
    difficulty = fields.choice("difficulty", Difficulty)
    tags = tuple(dict.fromkeys(text for text, _ in fields.texts("tags")))
    for key, complaint in listing_mistakes(summary, tags):
        item = fields.take(key)
        findings.error(key, item.line if item else None, complaint)
    return ProblemListing(summary, difficulty, tags)


def listing_mistakes(summary: str, tags: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """What is wrong: the key, and the complaint."""
    if len(summary) > MAX_SUMMARY or not summary.isprintable():
        yield "summary", f"must be one line of at most {MAX_SUMMARY} printable characters"
    if len(tags) > MAX_TAGS:
        yield "tags", f"{len(tags)} tags; at most {MAX_TAGS}"
    for tag in tags:
        if not _TAG.fullmatch(tag):
            yield "tags", f"`{tag[:40]}` isn't a tag: 1 to 24 of a-z 0-9 + . -"
