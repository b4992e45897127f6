"""Limits that hold for every definition, also for one that wasn't read from a folder."""

import keyword
from collections.abc import Iterable
from dataclasses import fields

from kernelbot.boards.model import ProblemDefinition
from kernelbot.catalog.cases import MAX_CASES, MAX_FLOOR, MAX_INT, MAX_RANKS
from kernelbot.catalog.document import MAX_DEPTH, MAX_TEXT_BYTES
from kernelbot.catalog.fields import DefinitionFindings
from kernelbot.catalog.listing import listing_mistakes
from kernelbot.catalog.problem import FILE_NAME, MAX_FILES, MAX_TIMEOUT_S
from kernelbot.catalog.sources import MAX_FILE_BYTES
from kernelbot.domain.errors import InvalidProblem
from kernelbot.protocol import Case, CaseValue, Floor, ProblemSpec, Timeouts

_MAX_NAME = 200


def check_bounds(definition: ProblemDefinition) -> None:
    """Raise `InvalidProblem` for what no problem folder can contain: it would make judging fail or
    never end."""
    findings = DefinitionFindings("definition")
    spec = definition.spec
    if not 0 < len(spec.name) <= _MAX_NAME or not spec.name.isprintable():
        findings.error("name", None, f"must be 1 to {_MAX_NAME} printable characters")
    if len(definition.description.encode(errors="replace")) > MAX_TEXT_BYTES:
        findings.error("description", None, f"larger than {MAX_TEXT_BYTES >> 10} KiB")
    _check_texts("templates", definition.templates.values(), findings)
    for key, complaint in listing_mistakes(definition.summary, definition.tags):
        findings.error(key, None, complaint)
    _check_files(spec, findings)
    _check_cases("tests", spec.tests, spec, findings)
    _check_cases("benchmarks", spec.benchmarks, spec, findings)
    _check_timeouts(spec.timeouts, findings)
    _check_floors(spec, findings)
    if findings.errors:
        raise InvalidProblem.listing("The problem", findings.errors)


def _check_files(spec: ProblemSpec, findings: DefinitionFindings) -> None:
    names = [spec.submission_name, *(file.name for file in spec.files)]
    if len(names) > MAX_FILES:
        findings.error("files", None, f"more than {MAX_FILES}")
    for name in names:
        if not FILE_NAME.fullmatch(name):
            findings.error("files", None, f"`{name[:40]}` isn't a plain file name")
    if len(set(names)) < len(names):
        findings.error("files", None, "two have the same name")
    if spec.anchor is not None and spec.anchor not in names[1:]:
        findings.error("anchor", None, "isn't among `files`")
    _check_texts("files", (file.text for file in spec.files), findings)


def _check_texts(key: str, texts: Iterable[str], findings: DefinitionFindings) -> None:
    if any(len(text.encode(errors="replace")) > MAX_FILE_BYTES for text in texts):
        findings.error(key, None, f"one is larger than {MAX_FILE_BYTES >> 20} MiB")


def _check_cases(
    key: str, cases: tuple[Case, ...], spec: ProblemSpec, findings: DefinitionFindings
) -> None:
    if not 0 < len(cases) <= MAX_CASES:
        findings.error(key, None, f"must be 1 to {MAX_CASES} cases, are {len(cases)}")
        return
    for index, case in enumerate(cases):
        where = f"{key}[{index}]"
        for name, value in case.args.items():
            if not name.isascii() or not name.isidentifier() or keyword.iskeyword(name):
                findings.error(where, None, f"`{name[:40]}` isn't a name that Python accepts")
            elif not _is_plain(value, 0):
                findings.error(f"{where}.{name}", None, "isn't a value that a case can hold")
        size = case.args.get("world_size")
        if spec.multi_gpu and (type(size) is not int or not 1 <= size <= MAX_RANKS):
            findings.error(f"{where}.world_size", None, f"must be 1 to {MAX_RANKS}")


def _is_plain(value: CaseValue, depth: int) -> bool:
    if isinstance(value, list):
        return depth < MAX_DEPTH and all(_is_plain(part, depth + 1) for part in value)
    if isinstance(value, str):
        return ";" not in value and value.isprintable()
    return not isinstance(value, int) or abs(value) <= MAX_INT


def _check_timeouts(timeouts: Timeouts, findings: DefinitionFindings) -> None:
    for field in fields(timeouts):
        if not 0 < getattr(timeouts, field.name) <= MAX_TIMEOUT_S:
            findings.error(
                f"timeouts.{field.name}", None, f"must be above 0 and at most {MAX_TIMEOUT_S:g}"
            )


def _check_floors(spec: ProblemSpec, findings: DefinitionFindings) -> None:
    if spec.floors and len(spec.floors) != len(spec.benchmarks):
        findings.error("floors", None, "must be one for each benchmark, or none")
    for floor in spec.floors:
        for amount in _amounts(floor):
            if not 0 <= amount <= MAX_FLOOR:
                findings.error("floors", None, f"must lie between 0 and {MAX_FLOOR:g}")


def _amounts(floor: Floor | None) -> list[float]:
    found = (floor.flops, floor.memory_bytes) if floor is not None else ()
    return [amount for amount in found if amount is not None]
