"""How many mistakes in kernels of CUDA or HIP a run on the processor finds, and how many with
`--check`.

    python -m benchmarks.cuda_mutants [--hip] [KERNEL ...]

Each kernel of `cuda_mutants.cu` (with `--hip` of `hip_mutants.hip`) is changed at one place: a
comparison is off by one, a barrier is left out, or an index is one too large. A mutant is found by
its answer if that differs from the right kernel's, or if the launch fails; by the check if the
check names an error. Prints one row per kind, and each mutant that nothing has found. Compiles with
the harness's flags, without a sandbox.
"""

import argparse
import contextlib
import ctypes
import multiprocessing
import re
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from kernelbot.harness.inside.cuda_on_cpu.emulation import Emulation
from kernelbot.harness.inside.cuda_on_cpu.headers import (
    CHECKED_FLAGS,
    CHECKED_LIBRARIES,
    FLAGS,
    FOLDER,
    HIP_FLAGS,
    header_files,
)
from kernelbot.harness.inside.cuda_on_cpu.rewriting import rewrite

SOURCES = {
    False: Path(__file__).with_name("cuda_mutants.cu"),
    True: Path(__file__).with_name("hip_mutants.hip"),
}
"""By whether they are HIP."""
_AS_HIP = ("-DCUDA_ON_CPU_HIP", "-O1", *HIP_FLAGS)
_SIZE = 900
_LIMIT_S = 15.0


class Kind(StrEnum):
    """What was changed."""

    OFF_BY_ONE = "off by one"
    NO_BARRIER = "missing barrier"
    WRONG_INDEX = "wrong index"


CHANGES = (
    (Kind.OFF_BY_ONE, re.compile(r" (<|>|>=) "), {"<": " <= ", ">": " >= ", ">=": " > "}),
    (Kind.NO_BARRIER, re.compile(r"(__syncthreads\(\);)"), {"__syncthreads();": ";"}),
    (Kind.WRONG_INDEX, re.compile(r"(?<=\w)(\])(?! ?;\n)"), {"]": " + 1]"}),
)


@dataclass(frozen=True)
class Mutant:
    """One changed kernel; `kind` None: the right one."""

    kernel: str
    kind: Kind | None
    line: str
    text: str


def mutants(kernel: str, text: str) -> list[Mutant]:
    """The right kernel, and all that are made of it."""
    device, host = text.split('extern "C"')
    found = [Mutant(kernel, None, "", text)]
    for kind, pattern, changes in CHANGES:
        for match in pattern.finditer(device):
            line = device[: match.start()].count("\n")
            if "__shared__" in device.splitlines()[line]:
                continue
            changed = device[: match.start()] + changes[match[1]] + device[match.end() :]
            shown = changed.splitlines()[line].strip()
            found.append(Mutant(kernel, kind, shown, changed + 'extern "C"' + host))
    return found


def build(folder: Path, all_of_one: list[Mutant], *, checked: bool, hip: bool) -> Path:
    """A library with all mutants of a kernel, each in a namespace of its own."""
    parts = [
        f"namespace m{number} {{\n{one.text.replace('void run(', f'void run_{number}(')}\n}}\n"
        for number, one in enumerate(all_of_one)
    ]
    for name, content in header_files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder / "all.cu").write_text(rewrite("all.cu", "".join(parts), hip=hip))
    flags, libraries = (CHECKED_FLAGS, CHECKED_LIBRARIES) if checked else ((), ())
    flags = (*(_AS_HIP if hip else ()), *flags)
    command = ["g++", *FLAGS, *flags, "-w", f"-I{FOLDER}", "-include", "cuda_on_cpu.h", "-x", "c++"]
    command += ["all.cu", "-shared", "-fPIC", "-o", "all.so", "-x", "none", *libraries]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "all.so"


def answer(library: Path, number: int) -> tuple[bytes, str]:
    """Output and error of one mutant, called in a process of its own; that it crashed or hung is
    an error as well."""
    receiving, sending = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=_call, args=(library, number, sending)
    )
    process.start()
    sending.close()
    found: tuple[bytes, str] = (b"", "it crashed or never ended")
    if receiving.poll(_LIMIT_S):
        with contextlib.suppress(EOFError):
            found = receiving.recv()
    process.kill()
    process.join()
    return found


def _call(library: Path, number: int, sending: Any) -> None:
    loaded = ctypes.CDLL(str(library))
    emulation = Emulation.find(loaded)
    assert emulation is not None, "it is built with the emulation's headers"
    a = np.random.default_rng(1).random(2 * _SIZE, dtype=np.float32)
    whole = np.zeros(_SIZE + 128, np.float32)
    out = whole[64:-64]
    for place, array in enumerate((a, out), 1):
        emulation.give(place, array.ctypes.data, array.nbytes)
    loaded[f"run_{number}"](ctypes.c_void_p(a.ctypes.data), ctypes.c_void_p(out.ctypes.data), _SIZE)
    error = ""
    try:
        emulation.expect_no_error()
    except RuntimeError as raised:
        error = str(raised)
    sending.send((whole.tobytes(), error))


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="default: all")
    parser.add_argument("--hip", action="store_true", help="kernels of HIP's")
    given = parser.parse_args()
    wanted, hip = given.kernels, given.hip
    sections = re.split(r"^// kernel (\w+)\n", SOURCES[hip].read_text(), flags=re.MULTILINE)[1:]
    made, by_answer, by_check = Counter[Kind](), Counter[Kind](), Counter[Kind]()
    for kernel, text in zip(sections[::2], sections[1::2], strict=True):
        if wanted and kernel not in wanted:
            continue
        all_of_one = mutants(kernel, text)
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            plain = build(Path(first), all_of_one, checked=False, hip=hip)
            checked = build(Path(second), all_of_one, checked=True, hip=hip)
            right, _ = answer(plain, 0)
            if wrongly := answer(checked, 0)[1]:
                raise SystemExit(f"{kernel} is right, and the check says: {wrongly}")
            for number, one in enumerate(all_of_one[1:], 1):
                kind = one.kind
                assert kind is not None, "only the first is right"
                output, error = answer(plain, number)
                told = output != right or bool(error)
                named = bool(answer(checked, number)[1])
                made[kind] += 1
                by_answer[kind] += told
                by_check[kind] += told or named
                if not told and not named:
                    print(f"not found: {kernel}, {kind}: {one.line}", flush=True)
    for kind in Kind:
        found = f"{by_answer[kind]} found by the answer, {by_check[kind]} with --check"
        print(f"{kind}: {made[kind]} made, {found}")


if __name__ == "__main__":
    main()
