"""Whether what was built on one machine can be used on another: they must be of one image."""

import hashlib
import os
import platform
import subprocess
import sys
from functools import cache, lru_cache
from importlib import metadata
from pathlib import Path

from kernelbot.harness.judge.build.on_cpu import runs_on_cpu
from kernelbot.harness.sandbox.enclosure import installed_program
from kernelbot.protocol import BuildEnvironment, JobSpec, Lang

PACKAGES = ("torch", "triton", "ninja")
"""What Python files build with."""
COMPILERS = ("g++", "nvcc")
_NATIVE = "native"
"""In `-march=native` and its like: built for the processor at hand."""
_BINARY = b"\x7fELF"
"""What a program begins with that is no script."""


def compiler_version(compiler: str) -> str:
    """What `g++` or `nvcc` says of itself; empty if it isn't installed, or says nothing."""
    program = installed_program(compiler)
    return "" if program is None else version_of(program)


def version_of(program: str) -> str:
    """What the compiler at this path says of itself; empty if nothing. It is asked once, and again
    when its file is another one."""
    target = Path(program).resolve()
    try:
        found = target.stat()
        state = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        kept = _version_while(program, target, state)
    except OSError:
        return ""
    return _ask_version(program) if kept is None else kept


@lru_cache(maxsize=16)
def _version_while(program: str, target: Path, _state: tuple[int, ...]) -> str | None:
    """What it says as long as its file is in this state. None: that can change without its file, as
    it is a script, or a link to a program of another name (ccache), and starts the compiler.
    Raises OSError."""
    with target.open("rb") as file:
        is_binary = file.read(len(_BINARY)) == _BINARY
    return _ask_version(program) if is_binary and Path(program).name in target.name else None


def _ask_version(program: str) -> str:
    try:
        command = [program, "--version"]
        said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return ""
    return said.stdout


def learn_place() -> None:
    """Find out what all builds here ask, so that no fork of this process has to."""
    processor()
    for compiler in COMPILERS:
        compiler_version(compiler)


def package_version(package: str) -> str:
    """Empty if it isn't installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


@cache
def processor() -> str:
    """The instruction set, which `-march=native` depends on."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith(("flags", "Features")):
            return line
    return ""


def build_environment(job: JobSpec) -> BuildEnvironment:
    """This machine and image, as far as they matter for what the job's submission builds."""
    lang = job.problem.lang
    compilers = COMPILERS[:1] if lang is Lang.CPP else COMPILERS
    tools = {name: compiler_version(name) for name in compilers}
    if lang is Lang.PY:
        tools |= {name: package_version(name) for name in PACKAGES}
        tools["python"] = sys.version
    sets = hashlib.sha256(processor().encode()).hexdigest() if _is_native(job) else ""
    return BuildEnvironment(
        platform.machine(), os.confstr("CS_GNU_LIBC_VERSION") or "", tools, sets
    )


def why_unfit(made: BuildEnvironment, here: BuildEnvironment) -> str:
    """What differs between the place where something was built and this one; empty: it fits. A
    compiler that isn't installed here can't be another one."""
    if made.machine != here.machine:
        return f"it is for {made.machine[:40]}, and this machine is {here.machine}"
    if made.libc != here.libc:
        return f"it was built with {made.libc[:40]}, and here is {here.libc}"
    for name, version in here.tools.items():
        if version and made.tools.get(name, "") != version:
            return f"it was built with another {name}"
    if made.processor != here.processor:
        return "it was built for another processor"
    return ""


def _is_native(job: JobSpec) -> bool:
    """Whether it may be built for the processor at hand. Whoever hides that from this has a kernel
    that ends at an instruction that is unknown."""
    if job.problem.lang is Lang.CPP or runs_on_cpu(job):
        return True
    texts = (job.submission.text, *job.problem.config.compile_flags)
    return any(_NATIVE in text for text in texts)
