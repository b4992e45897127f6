"""The documents of flashinfer-bench: a definition, and records that hold workloads."""

import keyword
import math
from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, Field, StrictBool, StrictFloat, StrictInt

from kernelbot.catalog.fields import DefinitionFindings
from kernelbot.catalog.importing.syntax import definitions, parse

_RESERVED = frozenset({"seed", "workload", "given"})
"""Arguments of ours, beside which axes and inputs are passed."""
_JUDGED_OTHERWISE = {
    "sampling": "its outputs are random, and the suite compares their distribution"
}
"""Kinds of operations whose outputs can't be compared element by element."""


class WorkloadAxis(BaseModel):
    """A dimension: a constant, or one that each workload gives."""

    type: Literal["const", "var"]
    value: StrictInt = Field(default=0, ge=0)


class Tensor(BaseModel):
    """`shape` names axes; None for a number."""

    shape: list[str] | None
    dtype: Literal[
        "float32",
        "float16",
        "bfloat16",
        "float8_e4m3fn",
        "float8_e5m2",
        "int64",
        "int32",
        "int16",
        "int8",
        "bool",
    ]


class Definition(BaseModel):
    """What is computed. `reference` is Python that defines `run`."""

    name: str
    op_type: str
    description: str | None = None
    axes: dict[str, WorkloadAxis]
    inputs: dict[str, Tensor] = Field(min_length=1)
    outputs: dict[str, Tensor] = Field(min_length=1)
    reference: str

    def shape(self, tensor: Tensor, values: Mapping[str, int]) -> list[int]:
        """With `values` for the variable axes; empty for a number."""
        axes = self.axes
        return [
            axes[name].value if axes[name].type == "const" else values[name]
            for name in tensor.shape or ()
        ]

    def elements(self, values: Mapping[str, int]) -> int:
        return sum(math.prod(self.shape(tensor, values)) for tensor in self.inputs.values())


class InputSource(BaseModel):
    """Where an input comes from. `path`, from the suite's folder, and `tensor_key`: of a file."""

    type: Literal["random", "scalar", "safetensors"]
    value: StrictBool | StrictInt | StrictFloat | None = None
    path: str | None = None
    tensor_key: str | None = None


class SuiteWorkload(BaseModel):
    """Values of the variable axes, and sources of the inputs."""

    uuid: str
    axes: dict[str, StrictInt]
    inputs: dict[str, InputSource]

    def from_files(self) -> list[str]:
        """Inputs whose data isn't in the record, but in files beside it."""
        return [name for name, source in self.inputs.items() if source.type == "safetensors"]


class WorkloadRecord(BaseModel):
    definition: str
    workload: SuiteWorkload


def check(definition: Definition, findings: DefinitionFindings) -> None:
    """Findings for what the models can't say."""
    otherwise = _JUDGED_OTHERWISE.get(definition.op_type)
    if otherwise:
        findings.error("op_type", None, f"`{definition.op_type}` can't be judged: {otherwise}")
    for key, names in (
        ("axes", list(definition.axes)),
        ("inputs", list(definition.inputs)),
        ("outputs", list(definition.outputs)),
    ):
        for name in names:
            if not name.isidentifier() or keyword.iskeyword(name) or name in _RESERVED:
                findings.error(key, None, f"{name[:100]!r} can't be the name of an argument")
    for name in (definition.inputs.keys() | definition.axes.keys()) & definition.outputs.keys():
        findings.error("outputs", None, f"`{name}` is an output and something else as well")
    _check_shapes("inputs", definition.inputs, definition, findings)
    _check_shapes("outputs", definition.outputs, definition, findings)
    _check_reference(definition.reference, findings)


def _check_shapes(
    key: str, tensors: Mapping[str, Tensor], definition: Definition, findings: DefinitionFindings
) -> None:
    for name, tensor in tensors.items():
        unknown = [axis for axis in tensor.shape or () if axis not in definition.axes]
        if unknown:
            findings.error(f"{key}.{name}.shape", None, f"no axis is called {unknown[0][:100]!r}")


def _check_reference(text: str, findings: DefinitionFindings) -> None:
    inside = DefinitionFindings(findings.file)
    tree = parse(text, inside)
    for finding in inside.errors:
        place = "" if finding.line is None else f" (line {finding.line} of it)"
        findings.error("reference", None, finding.message + place)
    if tree is not None and "run" not in definitions(tree.body):
        findings.error("reference", None, "defines no function `run`")
