"""flashinfer-bench: a definition (JSON), its workloads (JSON Lines); submissions define `run`."""

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from kernelbot.catalog.fields import DefinitionFindings
from kernelbot.catalog.importing.imported import (
    Arguments,
    ImportedProblem,
    SuiteReader,
    files_below,
)
from kernelbot.catalog.importing.json_text import read_json
from kernelbot.catalog.importing.naming import problem_name
from kernelbot.catalog.sources import Checkout
from kernelbot.importers.flashinfer.format import (
    Definition,
    SuiteWorkload,
    Tensor,
    WorkloadRecord,
    check,
)
from kernelbot.importers.flashinfer.given import given_text, why_not_given

MAX_WORKLOADS = 8
"""The most workloads of one problem: as many, evenly from the smallest to the largest. Files hold
up to 50."""
_DEFINITIONS, _WORKLOADS = "definitions", "workloads"
_STATEMENT = """\
{about}

Write a function `run` that computes what `run` of the starter file computes.

| | name | shape | type |
|---|---|---|---|
{rows}

It gets the inputs in this order and returns the outputs, several as a tuple or as a dict by \
name; or it takes the outputs as further arguments and writes into them.
{given}
An element is wrong if it is off by more than 0.01 and by more than 0.01 of the expected value, \
compared in float32{share}; infinities must be where they are expected.

Imported from flashinfer-bench.
"""
_SAME_DATA = """
Recorded, and so the same in all calls of a workload: {names}. The other inputs are new in each.
"""


class FlashInferBench(SuiteReader):
    """A folder has definitions and workloads below it."""

    def find(self, path: Path) -> tuple[Path, tuple[Path, ...]]:
        if path.is_dir():
            below = path / _DEFINITIONS
            return path, files_below(below if below.is_dir() else path, "*.json")
        above = (parent for parent in path.parents if parent.name == _DEFINITIONS)
        definitions_folder = next(above, None)
        return definitions_folder.parent if definitions_folder else path.parent, (path,)

    def read(
        self, checkout: Checkout, file: Path, largest: int | None, findings: DefinitionFindings
    ) -> ImportedProblem | None:
        text = checkout.read(str(file.relative_to(checkout.folder)), "", None, findings)
        definition = read_json(text, Definition, None, findings) if text is not None else None
        if definition is None:
            return None
        name = problem_name(Path(definition.name), findings)
        check(definition, findings)
        if findings.errors or name is None:
            return None
        workloads = _read_workloads(checkout, name, definition, largest, findings)
        chosen = _chosen(definition, workloads, largest)
        given = _given(checkout, definition, chosen, findings)
        if findings.errors:
            return None
        cases = _cases(definition, chosen, largest)
        kept = definition.model_dump_json(include={"name", "op_type", "axes", "inputs", "outputs"})
        return ImportedProblem(
            name=name,
            statement=_statement(definition, chosen),
            skeleton=files(__package__) / "skeleton",
            files={
                "definition.json": json.dumps(json.loads(kept), indent=1) + "\n",
                "flashinfer_reference.py": definition.reference,
                **given,
            },
            starter=definition.reference,
            tests=tuple({**case, "seed": 100 + index} for index, case in enumerate(cases)),
            benchmarks=tuple({**case, "seed": 1 + index} for index, case in enumerate(cases)),
            solutions={"reference.py": definition.reference},
        )


def _read_workloads(
    checkout: Checkout,
    name: str,
    definition: Definition,
    largest: int | None,
    findings: DefinitionFindings,
) -> list[SuiteWorkload]:
    """The workloads whose inputs can be made; findings if there are none."""
    below = checkout.folder / _WORKLOADS
    folder = below if below.is_dir() else checkout.folder
    files = files_below(folder, f"{name}.jsonl")
    if len(files) != 1:
        found = "several files" if files else "no file"
        findings.error("", None, f"{found} `{name}.jsonl` with workloads")
        return []
    where = str(files[0].relative_to(checkout.folder))
    inside = DefinitionFindings(where)
    text = checkout.read(where, "", None, inside) or ""
    workloads = [
        workload
        for line, record in enumerate(text.split("\n"), 1)
        if record.strip() and (workload := _workload(record, line, definition, inside))
    ]
    findings.errors += inside.errors
    if inside.errors:
        return []
    reasons = [why_not_given(checkout, definition, one, largest) for one in workloads]
    usable = [one for one, reason in zip(workloads, reasons, strict=True) if reason is None]
    if not usable:
        why = next((reason for reason in reasons if reason), "the file is empty")
        findings.error("", None, f"no workload can be imported: {why}", file=where)
    return usable


def _workload(
    text: str, line: int, definition: Definition, findings: DefinitionFindings
) -> SuiteWorkload | None:
    record = read_json(text, WorkloadRecord, line, findings)
    if record is None:
        return None
    if record.definition != definition.name:
        findings.error("definition", line, f"is {record.definition[:100]!r}")
    workload = record.workload
    wanted = {name for name, axis in definition.axes.items() if axis.type == "var"}
    for name in sorted(wanted - workload.axes.keys()):
        findings.error("workload.axes", line, f"no value for `{name}`")
    for name, value in workload.axes.items():
        if value < 0:
            findings.error(f"workload.axes.{name}", line, f"can't be negative, is {value}")
    for name, source in workload.inputs.items():
        if source.type == "scalar" and source.value is None:
            findings.error(f"workload.inputs.{name}", line, "a scalar without a value")
    return workload


def _chosen(
    definition: Definition, workloads: Sequence[SuiteWorkload], largest: int | None
) -> list[SuiteWorkload]:
    """At most MAX_WORKLOADS different ones, the smallest first."""
    different: dict[tuple[object, ...], SuiteWorkload] = {}
    for workload in sorted(workloads, key=lambda one: definition.elements(one.axes)):
        sources = [workload.inputs[name] for name in workload.from_files()]
        files = tuple((source.path, source.tensor_key) for source in sources)
        values = tuple(_values(definition, workload, largest).items())
        different.setdefault((values, files), workload)
    found = list(different.values())
    last, wanted = len(found) - 1, min(len(found), MAX_WORKLOADS)
    return [found[index * last // max(wanted - 1, 1)] for index in range(wanted)]


def _given(
    checkout: Checkout,
    definition: Definition,
    chosen: Sequence[SuiteWorkload],
    findings: DefinitionFindings,
) -> dict[str, str]:
    """By the names of the problem's files, the inputs that workloads read from files."""
    return {
        f"given_{index}.json": given_text(checkout, definition, workload, findings)
        for index, workload in enumerate(chosen)
        if workload.from_files()
    }


def _cases(
    definition: Definition, chosen: Sequence[SuiteWorkload], largest: int | None
) -> list[Arguments]:
    """The workloads' arguments. `given`: the number of its file, if it has one."""
    return [
        {
            "workload": workload.uuid,
            **({"given": index} if workload.from_files() else {}),
            **_values(definition, workload, largest),
        }
        for index, workload in enumerate(chosen)
    ]


def _values(definition: Definition, workload: SuiteWorkload, largest: int | None) -> Arguments:
    """Variable axes and scalars."""
    axes = {
        name: min(workload.axes[name], largest or workload.axes[name])
        for name, axis in definition.axes.items()
        if axis.type == "var"
    }
    scalars = {
        name: source.value
        for name, source in workload.inputs.items()
        if source.type == "scalar" and source.value is not None and name in definition.inputs
    }
    return {**axes, **scalars}


def _statement(definition: Definition, chosen: Sequence[SuiteWorkload]) -> str:
    rows = [
        f"| {kind} | `{name}` | {_shape(definition, tensor)} | {tensor.dtype} |"
        for kind, tensors in (("input", definition.inputs), ("output", definition.outputs))
        for name, tensor in tensors.items()
    ]
    share = "; 5 % of the elements may be" if definition.op_type == "moe" else ""
    about = definition.description or f"# {definition.name}"
    names = sorted({name for workload in chosen for name in workload.from_files()})
    given = _SAME_DATA.format(names=", ".join(f"`{name}`" for name in names)) if names else ""
    return _STATEMENT.format(about=about, rows="\n".join(rows), given=given, share=share)


def _shape(definition: Definition, tensor: Tensor) -> str:
    if tensor.shape is None:
        return "a number"
    parts = [
        f"{axis} = {definition.axes[axis].value}" if definition.axes[axis].type == "const" else axis
        for axis in tensor.shape
    ]
    return f"[{', '.join(parts)}]"
