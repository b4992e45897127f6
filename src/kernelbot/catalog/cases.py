"""The cases of a problem: what a `task.yml` may pass to `generate_input`."""

import keyword
from collections.abc import Mapping

from kernelbot.catalog.document import DocumentItem
from kernelbot.catalog.fields import DefinitionFindings, Fields, kind_of
from kernelbot.protocol import Case, CaseValue, Floor, NumberType

MAX_CASES = 1000
MAX_RANKS = 16
MAX_INT = 2**63 - 1
MAX_FLOOR = 1e30


def read_cases(
    fields: Fields, name: str, findings: DefinitionFindings, *, multi_gpu: bool
) -> tuple[tuple[Case, int], ...]:
    """The cases under `name` (at least one, at most MAX_CASES), each with its line."""
    items = fields.items(name, required=True)
    at = fields.take(name)
    line = at.line if at else fields.line
    if at and isinstance(at.value, tuple) and not items:
        findings.error(name, line, "needs at least one case")
    if len(items) > MAX_CASES:
        findings.error(name, line, f"{len(items)} cases; at most {MAX_CASES} are accepted")
        return ()
    cases: list[tuple[Case, int]] = []
    for index, item in enumerate(items):
        key = f"{name}[{index}]"
        case = _case(item, key, findings)
        cases.append((case, item.line))
        if multi_gpu:
            _check_ranks(case.args.get("world_size"), f"{key}.world_size", item.line, findings)
    return tuple(cases)


def _check_ranks(
    world_size: CaseValue | None, key: str, line: int, findings: DefinitionFindings
) -> None:
    if world_size is None:
        findings.error(key, line, "missing; multi_gpu cases need it")
    elif type(world_size) is int and not 1 <= world_size <= MAX_RANKS:
        findings.error(key, line, f"must be 1 to {MAX_RANKS}, is {world_size}")


def _case(item: DocumentItem, key: str, findings: DefinitionFindings) -> Case:
    if not isinstance(item.value, Mapping):
        findings.error(key, item.line, f"must be a map of arguments, is {kind_of(item)}")
        return Case({})
    args: dict[str, CaseValue] = {}
    for name, value in item.value.items():
        if not name.isascii() or not name.isidentifier() or keyword.iskeyword(name):
            findings.error(f"{key}.{name}", value.line, "isn't a name that Python accepts")
            continue
        args[name] = _value(value, f"{key}.{name}", findings)
    for name in ("seed", "world_size"):
        if name in args and (isinstance(args[name], bool) or not isinstance(args[name], int)):
            what = kind_of(item.value[name])
            findings.error(f"{key}.{name}", item.line, f"must be a whole number, is {what}")
    return Case(args)


def _value(item: DocumentItem, key: str, findings: DefinitionFindings) -> CaseValue:
    value = item.value
    if isinstance(value, tuple):
        return [_value(part, f"{key}[{index}]", findings) for index, part in enumerate(value)]
    if value is None or isinstance(value, Mapping):
        findings.error(
            key, item.line, f"must be a number, true or false, text or a list, is {kind_of(item)}"
        )
        return 0
    if isinstance(value, int) and abs(value) > MAX_INT:
        findings.error(key, item.line, "is too large for 64 bits")
    if isinstance(value, str) and (";" in value or not value.isprintable()):
        findings.error(key, item.line, "text in a case can't hold `;`, tabs or line breaks")
    return value


def read_floors(
    fields: Fields, findings: DefinitionFindings, workloads: int
) -> tuple[Floor | None, ...]:
    """`floor: {flops, bytes}` for all workloads, or a list with one (or null) for each."""
    item = fields.take("floor")
    if item is None:
        return ()
    if isinstance(item.value, Mapping):
        return (_floor(item, "floor", findings),) * workloads
    if not isinstance(item.value, tuple):
        fields.wrong("floor", item, "a map or a list of maps")
        return ()
    if len(item.value) != workloads:
        findings.error(
            "floor", item.line, f"lists {len(item.value)} floors for {workloads} benchmarks"
        )
        return ()
    return tuple(
        None if part.value is None else _floor(part, f"floor[{index}]", findings)
        for index, part in enumerate(item.value)
    )


def _floor(item: DocumentItem, key: str, findings: DefinitionFindings) -> Floor:
    fields = Fields(item, key, findings)
    floor = Floor(
        flops=_amount(fields, "flops", findings),
        memory_bytes=_amount(fields, "bytes", findings),
        number_type=_number_type(fields),
    )
    fields.warn_unknown()
    return floor


def _number_type(fields: Fields) -> NumberType | None:
    item = fields.take("type")
    if item is None:
        return None
    found = next((one for one in NumberType if one.value == item.value), None)
    if found is None:
        fields.wrong("type", item, f"one of {', '.join(NumberType)}")
    return found


def _amount(fields: Fields, name: str, findings: DefinitionFindings) -> float | None:
    item = fields.take(name)
    if item is None:
        return None
    value = item.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        fields.wrong(name, item, "a number")
        return None
    if not 0 <= value <= MAX_FLOOR:
        findings.error(fields.key(name), item.line, f"must lie between 0 and {MAX_FLOOR:g}")
        return None
    return float(value)
