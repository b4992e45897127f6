"""Runs a problem's generator, reference and checker on tensors without memory, and adds up sizes.

`python -m scripts.problem_memory.dry_run ROOT FOLDER` prints a `DryRun` as JSON. It is a process of
its own: every problem's modules have the same names. Needs torch, and no GPU; the problem's code is
executed, so use folders that you trust.

Tensors have shapes but no content, so what depends on content is assumed: numbers read from tensors
are 1, random ones the largest possible, comparisons true for all and for none of many, counted
things all of one kind, and nothing is found by searching.
"""

import copy
import importlib
import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kernelbot.catalog.problem import load_problem
from kernelbot.domain.errors import KernelbotError
from kernelbot.harness.inside.cage.comparison import size_bytes
from kernelbot.harness.inside.gpu import emulation
from kernelbot.protocol import Case, ProblemSpec
from scripts.problem_memory import aiter_shapes


@dataclass(frozen=True)
class DryRun:
    """What one case's data needs, of one rank. None: that couldn't be calculated."""

    case: str
    data_bytes: int | None = None
    output_bytes: int | None = None
    problem_bytes: int | None = None
    """The most that the problem's own process has at a time, its data included."""
    unknown: str = ""
    """What couldn't be calculated, and why."""


def main(root: Path, folder: Path) -> int:
    """The command: prints the workload that needs the most memory."""
    spec = load_problem(folder, root=root).definition.spec
    print(json.dumps(asdict(largest(spec))))
    return 0


def largest(spec: ProblemSpec) -> DryRun:
    """The workload with the most data, and of several with as much the one whose problem's process
    needs the most: only these are calculated to the end, which may take minutes."""
    try:
        reference = _import_reference(spec)
    except Exception as error:  # noqa: BLE001 (a stranger's module; told in the table)
        return DryRun("", unknown=f"reference.py: {error}")
    if not hasattr(reference, "generate_input"):
        return DryRun("", unknown="its script makes its own data")
    steps = partial(_dry_run, reference, multi_gpu=spec.multi_gpu)
    made = [(case, steps(case, only_data=True)) for case in spec.benchmarks]
    most = max(run.data_bytes or 0 for _, run in made)
    runs = [steps(case, only_data=False) for case, run in made if (run.data_bytes or 0) == most]
    return max(runs, key=lambda run: run.problem_bytes or 0)


def _import_reference(spec: ProblemSpec) -> Any:
    folder = tempfile.mkdtemp()
    for file in spec.files:
        Path(folder, file.name).write_text(file.text, encoding="utf-8")
    sys.path.insert(0, folder)
    emulation.install()
    aiter_shapes.install()
    if spec.multi_gpu:
        _join_nobody(max(int(str(case.args["world_size"])) for case in spec.benchmarks))
    return importlib.import_module("reference")


def _join_nobody(world_size: int) -> None:
    """Rank 0 of a group whose other ranks answer nothing."""
    import torch
    from torch.testing._internal.distributed.fake_pg import FakeStore

    torch.distributed.init_process_group("fake", rank=0, world_size=world_size, store=FakeStore())


def _dry_run(reference: Any, case: Case, *, multi_gpu: bool, only_data: bool) -> DryRun:
    """Each step's sizes, as far as steps can be made without content."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    from scripts.problem_memory.meter import Meter

    # Modules can't be converted without content; all are on the device from the start.
    torch.nn.Module._apply = lambda module, *_args, **_options: module
    arguments: dict[str, Any] = {**case.args, **({"rank": 0} if multi_gpu else {})}
    meter = Meter()
    torch.Tensor.numpy = lambda tensor: meter.numbers(tensor)  # a method, unlike `numbers` itself
    found: dict[str, int] = {}
    stage = "generate_input"
    try:
        with FakeTensorMode(allow_non_fake_inputs=True), meter:
            data = reference.generate_input(**arguments)
            found["data_bytes"] = _bytes_of(data)
            if not only_data:
                stage = "ref_kernel"
                output = reference.ref_kernel(_copied(data))
                found["output_bytes"] = size_bytes(output)
                stage = "check_implementation"
                spare = _copied(data)
                reference.check_implementation(data, output)
                del spare
    except Exception as error:  # noqa: BLE001 (a stranger's code, run without content)
        first_line = (str(error).splitlines() or [""])[0][:100]
        unknown = f"{stage}: {type(error).__name__}: {first_line}"
    else:
        unknown = ""
    peak = meter.peak_bytes if "data_bytes" in found else None
    return DryRun(case.spec, found.get("data_bytes"), found.get("output_bytes"), peak, unknown)


def _bytes_of(value: Any) -> int:
    """Of all tensors in a value, also those in objects of the problem's own."""
    if isinstance(value, Mapping):
        return sum(map(_bytes_of, value.values()))
    if isinstance(value, tuple | list):
        return sum(map(_bytes_of, value))
    if hasattr(value, "nbytes"):
        return int(value.nbytes)
    return _bytes_of(vars(value)) if hasattr(value, "__dict__") else 0


def _copied(value: Any) -> Any:
    """The same with memory of its own, as the harness gives to whoever may change it."""
    if isinstance(value, dict):
        return {key: _copied(part) for key, part in value.items()}
    if type(value) in (tuple, list):
        return type(value)(map(_copied, value))
    if hasattr(value, "nbytes"):
        return value.detach().clone()
    if not hasattr(value, "__dict__"):
        return value
    made = copy.copy(value)
    vars(made).update(_copied(dict(vars(value))))
    return made


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
    except KernelbotError as error:
        sys.exit(str(error))
