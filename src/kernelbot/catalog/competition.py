"""Reads a competition file: which problems, for which devices, until when."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from kernelbot.catalog.document import DocumentItem, parse
from kernelbot.catalog.fields import DefinitionFindings, Fields
from kernelbot.catalog.sources import TASK_FILE, Checkout
from kernelbot.domain.errors import Finding, InvalidProblem

MAX_PROBLEMS = 500
DEADLINE_YEARS = range(1970, 9001)
"""Near the calendar's ends a moment has no date in other time zones."""
DEADLINE_YEARS_TEXT = f"between the years {DEADLINE_YEARS[0]} and {DEADLINE_YEARS[-1]}"

_DEADLINE = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:[ T](\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?)?"
    r"\s*(Z|UTC|[+-]\d{2}:?\d{2})?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class CompetitionProblem:
    """An entry: `name` is the board's name, `folder` holds the problem's task.yml."""

    name: str
    folder: Path
    deadline: datetime | None
    """The entry's own, else the competition's; None: no deadline."""
    devices: tuple[str, ...]
    """Empty if the entry names none: the problem's own list counts."""
    line: int


@dataclass(frozen=True)
class Competition:
    """A competition as its file says. Problems are named, not loaded."""

    name: str
    description: str
    deadline: datetime | None
    problems: tuple[CompetitionProblem, ...]
    warnings: tuple[Finding, ...]
    reveal_code: bool = False
    """Whether everyone may read the submissions' code after the deadline."""
    fixed_seed: bool = False
    """Whether all secret runs of a board share one seed."""


def parse_deadline(text: str) -> datetime | None:
    """`2025-06-30`, `2026-03-15 01:00`, `2026-01-20 7:59`, with a zone or in UTC; empty is None.

    A date alone means its first moment, as in the format that this follows. Raises ValueError, also
    for other years than `DEADLINE_YEARS`.
    """
    text = text.strip()
    if not text:
        return None
    match = _DEADLINE.fullmatch(text)
    if match is None:
        raise ValueError(f"`{text}` isn't a date like 2026-03-15 or 2026-03-15 01:00")
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    try:
        when = datetime(year, month, day, hour, minute, second, tzinfo=_zone(match[7]))
        moment = when.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"`{text}` isn't a date: {error}") from error
    if moment.year not in DEADLINE_YEARS:
        raise ValueError(
            f"`{text}` isn't {DEADLINE_YEARS_TEXT}: leave it out for a board without end"
        )
    return moment


def _zone(text: str | None) -> timezone:
    if text is None or text.upper() in ("Z", "UTC"):
        return UTC
    digits = text[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    if offset >= timedelta(days=1):
        raise ValueError(f"no zone is {text} from UTC")
    return timezone(-offset if text[0] == "-" else offset)


def load_competition(path: Path, *, root: Path | None = None) -> Competition:
    """Read the competition file `path`. `root` as for `load_problem`.

    Raises InvalidProblem with every mistake as a Finding; entries must lead to a folder with a
    task.yml inside the checkout, and no two may have the same name.
    """
    findings = DefinitionFindings(path.name)
    checkout = Checkout.around(path.parent, root or None)
    text = checkout.read(path.name, "", None, findings)
    competition: Competition | None = None
    if text is not None:
        # A bare date is YAML's own type; here it is text in a known form.
        tree, mistakes = parse(text, path.name, dates_as_text=True)
        findings.errors += mistakes
        competition = _read(tree, checkout, findings) if tree else None
    if findings.errors or competition is None:
        raise InvalidProblem.listing(f"The competition {path}", findings.errors)
    return competition


def _read(
    tree: DocumentItem, checkout: Checkout, findings: DefinitionFindings
) -> Competition | None:
    fields = Fields(tree, "", findings)
    if not isinstance(tree.value, Mapping):
        return None
    name = fields.text("name", required=True)
    description = fields.text("description")
    deadline = _deadline(fields, findings)
    reveal_code = fields.flag("reveal_code")
    fixed_seed = fields.flag("fixed_seed")
    items = fields.items("problems", required=True)
    if len(items) > MAX_PROBLEMS:
        findings.error("problems", items[0].line, f"more than {MAX_PROBLEMS} problems")
        items = ()
    problems: dict[str, CompetitionProblem] = {}
    for index, item in enumerate(items):
        entry = Fields(item, f"problems[{index}]", findings)
        problem = _entry(entry, deadline, checkout, findings)
        entry.warn_unknown()
        if problem is not None and problem.name in problems:
            first = problems[problem.name].line
            findings.error(entry.key("name"), item.line, f"`{problem.name}` is on line {first} too")
        elif problem is not None:
            problems[problem.name] = problem
    fields.warn_unknown()
    return Competition(
        name,
        description,
        deadline,
        tuple(problems.values()),
        tuple(findings.warnings),
        reveal_code,
        fixed_seed,
    )


def _entry(
    fields: Fields, deadline: datetime | None, checkout: Checkout, findings: DefinitionFindings
) -> CompetitionProblem | None:
    directory = fields.text("directory", required=True)
    name = fields.text("name", required=True)
    own = _deadline(fields, findings)
    devices = tuple(dict.fromkeys(text for text, _ in fields.texts("gpus")))
    folder = checkout.inside(directory, fields.key("directory"), fields.line, findings)
    if not name or folder is None or not directory:
        return None
    if not (folder / TASK_FILE).is_file():
        findings.error(fields.key("directory"), fields.line, f"`{directory}` has no {TASK_FILE}")
        return None
    return CompetitionProblem(name, folder, own or deadline, devices, fields.line)


def _deadline(fields: Fields, findings: DefinitionFindings) -> datetime | None:
    text = fields.text("deadline")
    try:
        return parse_deadline(text)
    except ValueError as error:
        item = fields.take("deadline")
        findings.error(fields.key("deadline"), item.line if item else None, str(error))
        return None
