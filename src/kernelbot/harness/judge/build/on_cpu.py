"""CUDA without a GPU: compiled so that the processor runs the kernels, for tests alone."""

import re
from collections.abc import Iterable

from kernelbot.harness.inside.cuda_on_cpu.headers import (
    CHECKED_FLAGS,
    CHECKED_LIBRARIES,
    FLAGS,
    FOLDER,
    header_files,
)
from kernelbot.harness.inside.cuda_on_cpu.hip import mentions_hip
from kernelbot.harness.inside.cuda_on_cpu.rewriting import rewrite
from kernelbot.protocol import JobSpec, Lang, Mode, PhaseResult, Vendor, Verdict

KERNELS_ON_CPU_NOTE = (
    "The processor ran the kernels, one block after another: whether they are right is known, and "
    "how fast they are is not."
)
HIP_NOTE = (
    "The file names HIP's headers: an extension that includes one had warps of 64 lanes, as on "
    "AMD's MI300X and MI355X."
)
CHECKED_NOTE = (
    "Each access of memory in its kernels was looked at: outside of arrays, and shared memory "
    "without a barrier in between."
)
ONLY_TESTS = (
    "The processor can run a GPU's kernels to test them, and not to time them: only `--mode test` "
    "is for the device {device!r}. Submit the file to a device with a GPU for other modes."
)
LATE_NOTE = (
    "It may be slow, and it may wait forever: here a block's threads run in turn, each until a "
    "barrier, and blocks one after another. A thread that waits in a loop until another thread or "
    "another block has written something never sees it. Have it wait at a barrier."
)
CRASHED_NOTE = (
    "A kernel that writes outside of its arrays can end the process here, also later and "
    "elsewhere. `kernelbot run` with `--check` names the line, the thread and the array."
)
_CRASHED = " was ended by SIG"
UNKNOWN_NOTE = (
    "The device CPU has CUDA and HIP by headers of its own, and {name!r} isn't in them. If it is "
    "the toolkit's, see by `kernelbot preflight` whether the file compiles for a GPU, and submit "
    "it to a device with one."
)
_QUOTED = r"['\u2018](?:class )?([^'\u2018\u2019]{1,200})['\u2019]"
_UNKNOWN = re.compile(
    rf"error: (?:{_QUOTED} (?:was not declared|does not name a type)"
    rf"|{_QUOTED} is not a member of ['\u2018](?:cooperative_groups|cub|cuda)\b"
    rf"|['\u2018]class (?:cooperative_groups|cub)::.{{1,200}} has no member named {_QUOTED}"
    r"|([\w./-]{1,80}): No such file)"
)
"""What g++ says of a name or a header that may be the toolkit's."""
_PASSED_ON = ("-D", "-U", "-I", "-W")
_NVCC_ALONE = ("-Werror=", "-Wno-deprecated-gpu-targets", "-Wext-lambda", "-Wdefault-stream")
_MARK = "__global__"
_COMPILES = ("load_inline", "cpp_extension")


def runs_on_cpu(job: JobSpec) -> bool:
    """Whether the processor stands in for a GPU under the kernels that a compiled problem has."""
    return job.problem.lang is Lang.CU and job.device.vendor is Vendor.CPU


def has_kernels_on_cpu(job: JobSpec) -> bool:
    """Whether the processor runs CUDA's or HIP's kernels of the submission, also of a Python file.
    Who hides theirs from this is timed, as what they are: slow programs for a processor."""
    if runs_on_cpu(job):
        return True
    text = job.submission.text
    compiles = any(name in text for name in _COMPILES) and _MARK in text
    return compiles and job.problem.lang is Lang.PY and job.device.vendor is Vendor.CPU


def notes_on_cpu(job: JobSpec, phases: Iterable[PhaseResult] = ()) -> tuple[str, ...]:
    """What such a job's report says of how its kernels ran. `phases`: how they ended."""
    cases = [case for phase in phases for case in phase.cases]
    is_late = any(one.verdict is Verdict.TIME_LIMIT for one in cases)
    has_crashed = not job.checked and any(_CRASHED in one.message for one in cases)
    ended = (*((LATE_NOTE,) if is_late else ()), *((CRASHED_NOTE,) if has_crashed else ()))
    hip = (HIP_NOTE,) if not runs_on_cpu(job) and mentions_hip(job.submission.text) else ()
    checked = (CHECKED_NOTE,) if job.checked else ()
    return (*ended, KERNELS_ON_CPU_NOTE, *hip, *checked)


def note_on_unknown(said: str) -> tuple[str, ...]:
    """What the report says where g++ doesn't know a name that the toolkit may have. `said`: the
    compiler's words."""
    found = _UNKNOWN.search(said)
    name = next((one for one in found.groups() if one), "") if found else ""
    return (UNKNOWN_NOTE.format(name=name),) if name else ()


def why_no_time(job: JobSpec) -> str:
    """Why the job isn't judged: it would time such kernels. Empty if it is."""
    if job.mode is Mode.TEST or not has_kernels_on_cpu(job):
        return ""
    return ONLY_TESTS.format(device=job.device.name)


def sources_for_cpu(files: dict[str, bytes]) -> dict[str, bytes]:
    """The same sources as C++, with the headers that they need. Raises `NotCovered`."""
    rewritten = {
        name: rewrite(name, content.decode("utf-8", "replace")).encode()
        for name, content in files.items()
    }
    return rewritten | header_files()


def libraries_for_cpu(*, checked: bool) -> tuple[str, ...]:
    """What is linked, behind the sources; empty: what g++ links by itself."""
    return ("-x", "none", *CHECKED_LIBRARIES) if checked else ()


def flags_for_cpu(compile_flags: Iterable[str], *, checked: bool = False) -> tuple[str, ...]:
    """The flags of g++; of a problem's own, which are nvcc's, what g++ understands as well.
    `checked`: each access of memory is looked at."""
    passed_on = tuple(
        flag
        for flag in compile_flags
        if flag.startswith(_PASSED_ON) and not flag.startswith(_NVCC_ALONE)
    )
    own = (*FLAGS, *CHECKED_FLAGS) if checked else FLAGS
    return (*own, *passed_on, f"-I{FOLDER}", "-include", "cuda_on_cpu.h", "-x", "c++")
