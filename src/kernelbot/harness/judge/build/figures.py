"""What the kernels need that a Python file has compiled: registers, spills, memory.

The author's compilers have said it, in the author's runner: nobody but the author is shown it, and
nothing is decided by it.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from kernelbot.harness.inside.built_kernels import ARCHIVE, MOST
from kernelbot.harness.judge.build.names import demangled
from kernelbot.harness.judge.build.ptxas import parse_kernels
from kernelbot.harness.sandbox import CommandNotStarted, RunnerClient, harness_path, run_command
from kernelbot.protocol import Limits

_TIMEOUT_S = 15.0
"""Less than the slack that a job has beyond its own limits."""
_TOLD_BYTES = 16 << 20
_MAX_NAME = 500
_MAX_AUTHORS_NAME = 100
_MAX_LINE = 2000
"""Characters that are looked at of a line with a kernel's figures."""
_MAX_COUNT = 15
"""Digits of a figure."""
_FUNCTION = re.compile(r"Function (\S{1,16384}):\s|^arch = sm_(\d{2,4})", re.MULTILINE)
_RESOURCES = {
    "registers": re.compile(r"\bREG:(\d{1,15})"),
    "stack_bytes": re.compile(r"\bSTACK:(\d{1,15})"),
    "shared_bytes": re.compile(r"\bSHARED:(\d{1,15})"),
}
_RESERVES, _RESERVED_BYTES = 90, 1024
"""From this architecture on, cuobjdump counts what the system takes from a block's shared memory if
the kernel uses any; ptxas doesn't."""
_AMD = {
    "registers": re.compile(r"\.vgpr_count:\s+(\d{1,15})"),
    "accumulation_registers": re.compile(r"\.agpr_count:\s+(\d{1,15})"),
    "scalar_registers": re.compile(r"\.sgpr_count:\s+(\d{1,15})"),
    "spilled_registers": re.compile(r"\.vgpr_spill_count:\s+(\d{1,15})"),
    "stack_bytes": re.compile(r"\.private_segment_fixed_size:\s+(\d{1,15})"),
    "shared_bytes": re.compile(r"\.group_segment_fixed_size:\s+(\d{1,15})"),
}
_SPILLED_BYTES = 4
"""The size of one register of one thread."""
_HIP_KERNEL = re.compile(r"^  - ", re.MULTILINE)
"""Where the description of one kernel ends and the next one's begins; those of its arguments are
indented more."""
_HIP_NAME = re.compile(r"^    \.name:\s+'?([^\s']{1,16384})", re.MULTILINE)
_HIP_BLOCK = re.compile(r"^    \.max_flat_workgroup_size:\s+(\d{1,5})$", re.MULTILINE)
_HIP_ANY_BLOCK = 1024
"""The most threads of a block that clang compiles for if the author doesn't say."""


@dataclass(frozen=True)
class Described:
    """What compilers said of a file's kernels."""

    kernels: tuple[dict[str, str], ...] = ()
    """A row for each, with the keys of `parse_kernels`, and `threads` and `stages` of Triton's."""
    said: str = ""
    """In nvcc's words, if a file's extensions were compiled for a report alone."""


def described_in(builds: bytes, client: RunnerClient, sandboxed: bool) -> Described:
    """What the archive `builds` says; nothing if it can't be read. Raises `SandboxUnavailable`."""
    program = (
        f"import sys; sys.path.insert(0, {harness_path(isolated=sandboxed)!r}); "
        "from kernelbot.harness.inside import built_kernels; built_kernels.main()"
    )
    limits = Limits(output_kept_bytes=_TOLD_BYTES)
    try:
        result = run_command(
            client,
            ["python3", "-P", "-c", program],
            files={ARCHIVE: builds},
            limits=limits,
            timeout_s=_TIMEOUT_S,
        )
    except CommandNotStarted:
        return Described()
    told = tuple(_read(result.stdout))
    rows = tuple(islice(_rows(told), MOST))
    return Described(
        demangled(rows, client), "\n".join(one["said"] for one in told if "said" in one)
    )


def _read(told: str) -> Iterator[dict[str, str]]:
    try:
        found = json.loads(told)
    except (ValueError, RecursionError):
        return
    for one in found if isinstance(found, list) else ():
        if isinstance(one, dict) and all(isinstance(text, str) for text in one.values()):
            yield one


def _rows(told: Iterable[dict[str, str]]) -> Iterator[dict[str, str]]:
    for one in told:
        if one.get("compiler") == "triton":
            yield _by_triton(one)
        elif one.get("compiler") == "cute":
            yield from _by_cute(one)
        elif one.get("compiler") == "hip":
            yield from _by_hip(one)
        elif "said" in one:
            yield from parse_kernels(one["said"])
        else:
            yield from _in_library(one.get("resources", ""))


def _by_triton(told: dict[str, Any]) -> dict[str, str]:
    row = {"name": told.get("name", "")[:_MAX_NAME], "arch": told.get("arch", "")[:_MAX_COUNT]}
    if told.get("amdgcn"):
        row |= _amd_figures(told["amdgcn"])
    else:
        said = next(iter(parse_kernels(told.get("ptxas", ""))), {})
        row |= {key: said[key] for key in said if key not in row}
    for key in ("shared_bytes", "threads", "stages"):  # ptxas doesn't know what a launch adds
        value = told.get(key, "")
        if value.isdecimal() and len(value) <= _MAX_COUNT:
            row[key] = value
    return row


def _by_cute(told: dict[str, str]) -> Iterator[dict[str, str]]:
    """One row for each kind of launch. Of a kernel that wasn't launched, `threads` is 0, and its
    shared memory isn't known."""
    launches = list(islice(_launches(told.get("launches", "")), MOST))
    for row in _in_library(told.get("resources", "")):
        static = int(row.pop("shared_bytes", "0"))
        known = [one for one in launches if one.kernel == row["name"]] or [
            _LaunchFigures(row["name"])
        ]
        for one in [launch for launch in known if launch.threads] or known[:1]:
            row["name"] = one.authors[:_MAX_AUTHORS_NAME] or one.kernel[:_MAX_NAME]
            shared = {"shared_bytes": str(static + one.shared_bytes)} if one.threads else {}
            yield row | shared | {"threads": str(one.threads)}


@dataclass(frozen=True)
class _LaunchFigures:
    kernel: str
    threads: int = 0
    shared_bytes: int = 0
    authors: str = ""


def _launches(told: str) -> Iterator[_LaunchFigures]:
    for line in told.splitlines():
        try:
            kernel, threads, shared_bytes, authors = json.loads(line)
        except (ValueError, TypeError, RecursionError):
            continue
        counts = (threads, shared_bytes)
        if isinstance(kernel, str) and isinstance(authors, str) and all(map(_is_count, counts)):
            yield _LaunchFigures(kernel, threads, shared_bytes, authors)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and 0 <= value < 10**_MAX_COUNT


def _amd_figures(metadata: str) -> dict[str, str]:
    found = {name: pattern.search(metadata) for name, pattern in _AMD.items()}
    row = {name: match[1] for name, match in found.items() if match is not None}
    spilled = row.pop("spilled_registers", None)
    if spilled is not None:
        row["spill_store_bytes"] = str(int(spilled) * _SPILLED_BYTES)
    return row


def _by_hip(told: dict[str, str]) -> Iterator[dict[str, str]]:
    """One row for each kernel, with the `threads` of its `__launch_bounds__` if it has them."""
    for block in _HIP_KERNEL.split(told.get("metadata", "")):
        if name := _HIP_NAME.search(block):
            row = {"name": name[1]} | _amd_figures(block)
            threads = _HIP_BLOCK.search(block)
            if threads is not None and 0 < int(threads[1]) < _HIP_ANY_BLOCK:
                row["threads"] = threads[1]
            yield row


def _in_library(resources: str) -> Iterator[dict[str, str]]:
    """cuobjdump names a kernel in one line and what it needs in the next, after the architecture of
    all that follow."""
    reserved_bytes = 0
    for function in _FUNCTION.finditer(resources):
        if function[2] is not None:
            reserved_bytes = _RESERVED_BYTES if int(function[2]) >= _RESERVES else 0
            continue
        longest = function.end() + _MAX_LINE
        end = resources.find("\n", function.end(), longest)
        line = resources[function.end() : end if end >= 0 else longest]
        row = {"name": function[1]}
        for name, pattern in _RESOURCES.items():
            figure = pattern.search(line)
            if figure is not None:
                row[name] = figure[1]
        if "shared_bytes" in row:
            row["shared_bytes"] = str(max(int(row["shared_bytes"]) - reserved_bytes, 0))
        yield row
