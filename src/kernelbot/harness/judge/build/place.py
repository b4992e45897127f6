"""Whether what was built on one machine can be used on another: they must be of one image."""

import hashlib
import os
import platform
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

from kernelbot.harness.judge.build.on_cpu import runs_on_cpu
from kernelbot.harness.sandbox.enclosure import installed_program
from kernelbot.protocol import BuildEnvironment, JobSpec, Lang

PACKAGES = ("torch", "triton", "ninja")
"""What Python files build with."""
_NATIVE = "native"
"""In `-march=native` and its like: built for the processor at hand."""


@cache
def compiler_version(compiler: str) -> str:
    """What it says of itself; empty if it isn't installed, or says nothing."""
    try:
        command = [installed_program(compiler) or compiler, "--version"]
        said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return ""
    return said.stdout


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
    compilers = ("g++",) if lang is Lang.CPP else ("g++", "nvcc")
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
