"""In place of ROCm's hipcc, where there is none: clang compiles a source's kernels for a GPU that
isn't here, and what they need is kept.

Functions of the host are read and checked, and no code is made of them: the object file is empty.
"""

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from kernelbot.harness.inside.gpu.hip_toolchain import (
    Clang,
    HipToolchain,
    NoHipToolchain,
    find_toolchain,
    too_old,
)
from kernelbot.harness.inside.own_builds import HIP_KERNELS

METADATA = ".metadata"
"""What is left of each source in `HIP_KERNELS`: clang's own description of its kernels."""
FOLDER = ".cache/kernelbot/rocm"
"""In the author's home: what torch takes for ROCm."""
TROUBLE = f"{FOLDER}/trouble"
"""Why nothing was compiled, through no fault of the author."""
_FLAGS = (
    "-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc", "-S", "-O3",
    "-fno-caret-diagnostics", "-fno-color-diagnostics",
    "-include", "__clang_hip_runtime_wrapper.h",
)  # fmt: skip
_NOT_PASSED = re.compile(
    r"-c|-S|-x|hip|-f(?:no-)?gpu-rdc|--?(?:no-)?offload-arch=.*|--amdgpu-target=.*"
)
_METADATA = "amdhsa.kernels:"
_MOST_BYTES = 4 << 20
_LIBRARYS = re.compile(r"\b(__(?:ocml|ockl)_\w{1,60})@(?:rel|gotpcrel)32")
_UNKNOWN_GPU = re.compile(r"error: (?:invalid target ID|unsupported HIP gpu architecture)")
_CRASHED = re.compile(r"^PLEASE submit a bug report|clang frontend command failed", re.MULTILINE)
_ERROR = re.compile(r"^.{1,400}?: (?:fatal )?error: (.{1,600})", re.MULTILINE)
_NO_HEADER = re.compile(
    r"'((?:hip|roc|rccl|miopen|ck/|ck_tile/|ATen/hip|ATen/cuda|c10/hip|c10/cuda|thrust/)[^']{0,200})'"
    r" file not found"
)
_STAND_INS = re.compile(
    r"'(?:__(?:h|float|double|half|hip_|bfloat|low|high|ushort|short|amd_)\w{0,60}|"
    r"h2?(?:exp|log|sqrt|rsqrt|rcp|sin|cos|ceil|floor|rint|trunc)(?:2|10)?)'|"
    r"in namespace '(?:cooperative_groups|thrust|(?:c10|at)::(?:hip|cuda))\b"
)
"""Names of which our headers have some, and ROCm's more."""
_UNDECLARED = re.compile(
    r"use of undeclared identifier|unknown type name|no (?:template|type|member) named"
)
_OCLC = (
    ("ISA_version", "i32", None), ("ABI_version", "i32", 500), ("wavefrontsize64", "i8", 1),
    ("finite_only_opt", "i8", 0), ("unsafe_math_opt", "i8", 0), ("daz_opt", "i8", 0),
    ("correctly_rounded_sqrt32", "i8", 1),
)  # fmt: skip
"""What AMD's device libraries are told of GPU and options; None: by the architecture."""


def main(arch: str, home: str) -> None:
    """Compile as hipcc is asked to in `sys.argv`, and exit with the compiler's code."""
    given = sys.argv[1:]
    try:
        tools = find_toolchain(arch)
    except NoHipToolchain as error:
        sys.exit(_trouble(home, str(error)))
    target = given[given.index("-o") + 1] if "-o" in given else "a.out"
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "kernels.s")
        ended = subprocess.run(
            _command(tools, arch, folder, given, text),
            stderr=subprocess.PIPE, text=True, errors="replace", check=False,
        )  # fmt: skip
        why = _nobodys(tools.clang, arch, ended.stderr)
        if ended.returncode and why:
            sys.exit(_trouble(home, why))
        sys.stderr.write(ended.stderr)
        if ended.returncode:
            sys.exit(1)
        assembled = text.read_text(errors="replace")
    if missing := _undefined(assembled):
        sys.exit(_trouble(home, _needs_libraries(missing)))
    _keep(home, target, assembled)
    sys.exit(subprocess.run([tools.clang.path, "-x", "c++", "-c", "/dev/null", "-o", target],
                            check=False).returncode)  # fmt: skip


def _command(
    tools: HipToolchain, arch: str, folder: str, given: Sequence[str], text: Path
) -> list[str]:
    """The author's flags, as torch gives them, for the kernels of one GPU."""
    passed: list[str] = []
    rest = iter(given)
    for word in rest:
        if word == "-o":
            next(rest, None)
        elif not _NOT_PASSED.fullmatch(word):
            passed.append(word)
    linked = [*tools.libraries, *([_options(tools.clang, arch, folder)] if tools.libraries else ())]
    return [
        tools.clang.path,
        *_FLAGS,
        f"--offload-arch={arch}",
        *passed,
        "-isystem", tools.headers,
        *(part for one in linked for part in ("-Xclang", "-mlink-builtin-bitcode", "-Xclang", one)),
        "-o", str(text),
    ]  # fmt: skip


def _options(clang: Clang, arch: str, folder: str) -> str:
    """A library with what the device libraries ask for. Architectures are counted as AMD's files
    `oclc_isa_version_*` do: gfx90a is 9010."""
    major, minor, stepping = arch[3:-2], arch[-2], int(arch[-1], 16)
    version = f"{major}{minor}{stepping:02d}"
    lines = ['target triple = "amdgcn-amd-amdhsa"']
    lines += [
        f"@__oclc_{name} = linkonce_odr protected local_unnamed_addr addrspace(4) constant "
        f"{kind} {version if value is None else value}"
        for name, kind, value in _OCLC
    ]
    source, made = Path(folder, "options.ll"), Path(folder, "options.bc")
    source.write_text("\n".join(lines) + "\n")
    command = [clang.path, "-x", "ir", "--target=amdgcn-amd-amdhsa", f"-mcpu={arch}", "-nogpulib"]
    subprocess.run([*command, "-c", "-emit-llvm", str(source), "-o", str(made)], check=False)
    return str(made)


def _nobodys(clang: Clang, arch: str, said: str) -> str:
    """Why a failure isn't the author's; empty if it is."""
    if _UNKNOWN_GPU.search(said):
        return too_old(clang, arch)
    if _CRASHED.search(said):
        return f"clang {clang.version} crashed for {arch}, which is a fault of its own."
    errors = [found[1] for found in _ERROR.finditer(said)]
    reasons = [_not_here(error) for error in errors]
    return reasons[0] if reasons and all(reasons) else ""


def _not_here(error: str) -> str:
    """Why an error may come from a header of ROCm's that isn't here; empty if it can't."""
    if header := _NO_HEADER.search(error):
        return f"<{header[1]}> is a header of ROCm's or of torch for ROCm, which aren't here."
    if _UNDECLARED.search(error) and _STAND_INS.search(error):
        return (
            f"`{error}`: the headers here, which stand in for ROCm's, don't have it. Install ROCm "
            "if it is no slip of yours."
        )
    return ""


def _undefined(assembled: str) -> list[str]:
    """Functions of AMD's device libraries that are called and aren't there."""
    called = dict.fromkeys(_LIBRARYS.findall(assembled))
    return [name for name in called if f"\n{name}:" not in assembled]


def _needs_libraries(missing: Sequence[str]) -> str:
    return (
        f"The kernels call {missing[0]} of AMD's device libraries, without which no figure is "
        "right, and this clang has none: install the package rocm-device-libs, or ROCm."
    )


def _trouble(home: str, why: str) -> int:
    Path(home, TROUBLE).write_text(why)
    return 1


def _keep(home: str, target: str, assembled: str) -> None:
    """Keep the end of the assembler's text, which describes the kernels."""
    metadata = assembled.rpartition(_METADATA)[2][:_MOST_BYTES]
    folder = Path(home, HIP_KERNELS)
    folder.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(f"{Path.cwd()}/{target}".encode()).hexdigest()[:32]
    Path(folder, name + METADATA).write_text(metadata)


def kept(folder: Path) -> Iterator[str]:
    """What was kept of each source, the oldest first."""
    paths = sorted(folder.glob(f"*{METADATA}"), key=lambda path: path.stat().st_mtime_ns)
    for path in paths:
        yield path.read_text(errors="replace")[:_MOST_BYTES]


def script(arch: str, home: str, harness: str) -> str:
    """A shell's text that starts `main`. `harness`: what our packages are found in."""
    start = (
        f"import sys; sys.path.insert(0, {harness!r}); "
        f"from kernelbot.harness.inside.gpu import hip_compiler; "
        f"hip_compiler.main({arch!r}, {home!r})"
    )
    quoted = start.replace("'", "'\\''")
    return f"#!/bin/sh\nexec {json.dumps(sys.executable)} -P -c '{quoted}' \"$@\"\n"
