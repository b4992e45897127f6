"""Inputs of flashinfer-bench that a workload gives as files: they become part of the problem."""

import base64
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kernelbot.catalog.fields import DefinitionFindings
from kernelbot.catalog.sources import MAX_FILE_BYTES, Checkout
from kernelbot.importers.flashinfer.format import Definition, InputSource, SuiteWorkload, Tensor
from kernelbot.platform.distribution import checkout_command
from kernelbot.protocol.os_errors import in_words

MAX_READ_BYTES = 16 << 20
"""The largest safetensors file. What becomes of it must be a file of a problem, which is smaller.
"""
_DTYPES = {
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "bool": "BOOL",
}
"""What safetensors calls the types of a definition."""
_LFS_POINTER = b"version https://git-lfs"


def why_not_given(
    checkout: Checkout, definition: Definition, workload: SuiteWorkload, largest: int | None
) -> str | None:
    """Why a workload with inputs from files can't be imported, without reading those; None: nothing
    speaks against it, or it has no such inputs."""
    files = workload.from_files()
    if not files:
        return None
    if not _has_random_input(definition, workload):
        return "all of its inputs are read from files, so every call would have the same data"
    sizes = [workload.axes[name] for name, axis in definition.axes.items() if axis.type == "var"]
    if largest is not None and max(sizes, default=0) > largest:
        names = ", ".join(sorted(files))
        return f"{names} can't be made smaller: they are read from safetensors files"
    reasons = (_why_not_read(checkout, definition, name, workload.inputs[name]) for name in files)
    return next((reason for reason in reasons if reason), None)


def given_text(
    checkout: Checkout,
    definition: Definition,
    workload: SuiteWorkload,
    findings: DefinitionFindings,
) -> str:
    """The inputs that the workload reads from files, as a file of the problem; empty after a
    finding. Only if `why_not_given` has nothing against it."""
    before = len(findings.errors)
    contents: dict[Path, Mapping[str, Any]] = {}
    given: dict[str, object] = {}
    characters = 0
    for name in workload.from_files():
        source = workload.inputs[name]
        path = checkout.inside(source.path or "", "", None, findings)
        if path is None:
            break
        if path not in contents:
            contents[path] = _tensors(path, source, findings)
        if len(findings.errors) > before:
            break
        found = contents[path].get(source.tensor_key or "")
        expected = definition.inputs[name]
        wrong = _what_is_wrong(found, expected, definition.shape(expected, workload.axes))
        if found is None or wrong:
            findings.error(f"inputs.{name}", None, f"in `{source.path}`: {wrong}")
            break
        data = base64.b64encode(zlib.compress(bytes(found["data"]), 9)).decode()
        given[name] = {"dtype": expected.dtype, "shape": found["shape"], "zlib_base64": data}
        characters += len(data)
        if characters > MAX_FILE_BYTES:  # however many more there are
            most = f"{MAX_FILE_BYTES >> 20} MiB, compressed"
            findings.error("inputs", None, f"those in files are larger than {most}")
            break
    return "" if len(findings.errors) > before else json.dumps(given, indent=1) + "\n"


def _why_not_read(
    checkout: Checkout, definition: Definition, name: str, source: InputSource
) -> str | None:
    if name not in definition.inputs:
        return f"{name[:100]} is no input of the definition"
    if not source.path or not source.tensor_key:
        return f"{name} has no `path` or no `tensor_key`"
    outside = DefinitionFindings("")
    path = checkout.inside(source.path, "", None, outside)
    if path is None:
        return f"{name} is read from a file, and {outside.errors[0].message}"
    try:
        is_there = path.is_file()
    except OSError:  # such as a name that is too long
        is_there = False
    return None if is_there else f"{name} is read from `{source.path}`, which isn't there"


def _has_random_input(definition: Definition, workload: SuiteWorkload) -> bool:
    """Whether any tensor is made anew for each call."""
    sources = workload.inputs
    return any(
        tensor.shape and (name not in sources or sources[name].type == "random")
        for name, tensor in definition.inputs.items()
    )


def _tensors(path: Path, source: InputSource, findings: DefinitionFindings) -> Mapping[str, Any]:
    """By key, what safetensors has read; empty after a finding."""
    try:
        import safetensors
    except ImportError:
        findings.error("", None, f"to read safetensors files, {checkout_command('suites')}")
        return {}
    try:
        if path.stat().st_size > MAX_READ_BYTES:
            trouble = f"larger than {MAX_READ_BYTES >> 20} MiB"
        else:
            content = path.read_bytes()
            if not content.startswith(_LFS_POINTER):
                return dict(safetensors.deserialize(content))  # type: ignore[no-untyped-call]
            trouble = "only a pointer of git-lfs; get the file itself with `git lfs pull`"
    except OSError as error:
        trouble = f"unreadable: {in_words(error)}"
    except safetensors.SafetensorError as error:
        trouble = f"no safetensors file: {str(error)[:200]}"
    findings.error("", None, f"`{source.path}` is {trouble}")
    return {}


def _what_is_wrong(found: Any, expected: Tensor, shape: list[int]) -> str | None:
    """What is wrong with a tensor, None if nothing is; it may be missing in its file. Nothing is
    converted, since the suite converts nothing."""
    if found is None:
        return "it isn't in it"
    if expected.shape is None:
        return "it must be a number, and numbers are written into the workload"
    if found["dtype"] != _DTYPES[expected.dtype]:
        return f"it is of type {found['dtype']}, expected {_DTYPES[expected.dtype]}"
    if found["shape"] != shape:
        return f"its shape is {found['shape']}, expected {shape}"
    if expected.dtype == "bool" and not set(found["data"]) <= {0, 1}:
        return "it has bytes that are neither true nor false"
    return None
