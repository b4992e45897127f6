"""flashinfer-bench: a definition (JSON), its workloads (JSON Lines); submissions define `run`."""

import json
from collections.abc import Sequence
from pathlib import Path

from kernelbot.catalog.fields import Findings
from kernelbot.catalog.importing.flashinfer_format import (
    Definition,
    Record,
    Tensor,
    Workload,
    check,
)
from kernelbot.catalog.importing.imported import Arguments, ImportedProblem, files_below
from kernelbot.catalog.importing.json_text import read_json
from kernelbot.catalog.importing.naming import problem_name
from kernelbot.catalog.sources import Checkout

MAX_WORKLOADS = 8
"""Of one problem: as many, evenly from the smallest to the largest. Files hold up to 50."""
_DEFINITIONS, _WORKLOADS = "definitions", "workloads"
_STATEMENT = """\
{about}

Write a function `run` that computes what `run` of the starter file computes.

| | name | shape | type |
|---|---|---|---|
{rows}

It gets the inputs in this order and returns the outputs, several as a tuple or as a dict by \
name; or it takes the outputs as further arguments and writes into them.

An element is wrong if it is off by more than 0.01 and by more than 0.01 of the expected value, \
compared in float32{share}; infinities must be where they are expected.

Imported from flashinfer-bench.
"""


class FlashInferBench:
    """See `SuiteReader`. A folder has definitions and workloads below it."""

    def find(self, path: Path) -> tuple[Path, tuple[Path, ...]]:
        if path.is_dir():
            below = path / _DEFINITIONS
            return path, files_below(below if below.is_dir() else path, "*.json")
        above = (parent for parent in path.parents if parent.name == _DEFINITIONS)
        definitions_folder = next(above, None)
        return definitions_folder.parent if definitions_folder else path.parent, (path,)

    def read(
        self, checkout: Checkout, file: Path, largest: int | None, findings: Findings
    ) -> ImportedProblem | None:
        text = checkout.read(str(file.relative_to(checkout.folder)), "", None, findings)
        definition = read_json(text, Definition, None, findings) if text is not None else None
        if definition is None:
            return None
        name = problem_name(Path(definition.name), findings)
        check(definition, findings)
        if findings.errors or name is None:
            return None
        workloads = _read_workloads(checkout, name, definition, findings)
        if findings.errors:
            return None
        cases = _cases(definition, workloads, largest)
        kept = definition.model_dump_json(include={"name", "op_type", "axes", "inputs", "outputs"})
        return ImportedProblem(
            name=name,
            statement=_statement(definition),
            skeleton="flashinfer",
            files={
                "definition.json": json.dumps(json.loads(kept), indent=1) + "\n",
                "flashinfer_reference.py": definition.reference,
            },
            starter=definition.reference,
            tests=tuple({**case, "seed": 100 + index} for index, case in enumerate(cases)),
            benchmarks=tuple({**case, "seed": 1 + index} for index, case in enumerate(cases)),
            solutions={"reference.py": definition.reference},
        )


def _read_workloads(
    checkout: Checkout, name: str, definition: Definition, findings: Findings
) -> list[Workload]:
    """Those whose inputs can be made; findings if there are none."""
    below = checkout.folder / _WORKLOADS
    folder = below if below.is_dir() else checkout.folder
    files = files_below(folder, f"{name}.jsonl")
    if len(files) != 1:
        found = "several files" if files else "no file"
        findings.error("", None, f"{found} `{name}.jsonl` with workloads")
        return []
    where = str(files[0].relative_to(checkout.folder))
    inside = Findings(where)
    text = checkout.read(where, "", None, inside) or ""
    workloads = [
        workload
        for line, record in enumerate(text.split("\n"), 1)
        if record.strip() and (workload := _workload(record, line, definition, inside))
    ]
    findings.errors += inside.errors
    usable = [workload for workload in workloads if not workload.from_files()]
    if not usable and not inside.errors:
        names = sorted({name for workload in workloads for name in workload.from_files()})
        why = (
            f"{', '.join(names)} are read from safetensors files" if names else "the file is empty"
        )
        findings.error("", None, f"no workload can be imported: {why}", file=where)
    return usable


def _workload(text: str, line: int, definition: Definition, findings: Findings) -> Workload | None:
    record = read_json(text, Record, line, findings)
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


def _cases(
    definition: Definition, workloads: Sequence[Workload], largest: int | None
) -> list[Arguments]:
    """Arguments of at most MAX_WORKLOADS different cases, the smallest first."""
    cases: dict[tuple[object, ...], Arguments] = {}
    for workload in sorted(workloads, key=lambda one: definition.elements(one.axes)):
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
        values = {**axes, **scalars}
        cases.setdefault(tuple(values.items()), {"workload": workload.uuid, **values})
    found = list(cases.values())
    last, wanted = len(found) - 1, min(len(found), MAX_WORKLOADS)
    return [found[index * last // max(wanted - 1, 1)] for index in range(wanted)]


def _statement(definition: Definition) -> str:
    rows = [
        f"| {kind} | `{name}` | {_shape(definition, tensor)} | {tensor.dtype} |"
        for kind, tensors in (("input", definition.inputs), ("output", definition.outputs))
        for name, tensor in tensors.items()
    ]
    share = "; 5 % of the elements may be" if definition.op_type == "moe" else ""
    about = definition.description or f"# {definition.name}"
    return _STATEMENT.format(about=about, rows="\n".join(rows), share=share)


def _shape(definition: Definition, tensor: Tensor) -> str:
    if tensor.shape is None:
        return "a number"
    parts = [
        f"{axis} = {definition.axes[axis].value}" if definition.axes[axis].type == "const" else axis
        for axis in tensor.shape
    ]
    return f"[{', '.join(parts)}]"
