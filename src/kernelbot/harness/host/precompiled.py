"""Makes what `inside/precompiled.py` looks for: torch's header as g++ has compiled it.

That is made outside of the sandbox, of torch's own files and flags that are known; runners read it,
and nothing that an author sends has a part in it.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from kernelbot.harness.inside.cuda_on_cpu.hip import mentions_hip
from kernelbot.harness.inside.cuda_on_cpu.inline import cpu_flags
from kernelbot.harness.inside.own_folders import inside
from kernelbot.harness.inside.precompiled import COMPILED, HEADER, variant
from kernelbot.harness.judge.authors import authors_of
from kernelbot.harness.judge.build.cache import BuildCache
from kernelbot.harness.judge.build.on_cpu import has_kernels_on_cpu
from kernelbot.harness.judge.build.place import compiler_version, package_version
from kernelbot.harness.sandbox.enclosure import installed_program
from kernelbot.harness.timing.turns import Turns
from kernelbot.protocol import JobSpec, Lang

_BELOW = "headers"
MOST = 4
"""Lists of flags for which the header is kept, 800 MB each."""
_STAYS_S = 3600.0
"""How long what was used has its place for itself. Else an author who names other flags each time
would have every job of the machine wait for a compiler, and take the place of what others use."""
_COMPILER = "c++"
"""The name by which torch calls it."""
_ROOM_BYTES = 4 << 30
"""Free room on the disk without which none is made."""
_LIMIT_S = 300.0
_POLL_S = 0.2
_WAY_POLL_S = 0.5
_GIVES_WAY_S = 300.0
"""For so long in all a compiler stands still while others measure. Then it goes on beside them, or
a machine that measures all the time would have none."""
_FAILED = "failed"
_FAILED_FOR_S = 86400.0
"""How long no other job waits for what failed or took too long."""
_MAKING = "making-"
_ONLY_FOR_ONE = "-DTORCH_EXTENSION_NAME="
_CALLS = re.compile(r"\b(load_inline|load)\s{0,20}\(")
_INLINE = "load_inline"
_WITHOUT_HEADER = "no_implicit_headers"
_FLAGS_GIVEN = re.compile(r"extra_cflags\s{0,20}=\s{0,20}\[([^\[\]]{0,500})\]")
_TEXT = re.compile(r"""['"]([^'"\\]{0,60})['"]""")
_KNOWN = frozenset(
    (
        *("-O0", "-O1", "-O2", "-O3", "-Os", "-Ofast", "-g", "-g1", "-w", "-Wall", "-Wextra"),
        *("-std=c++17", "-std=c++20", "-std=c++23", "-fPIC", "-DNDEBUG", "-march=native"),
        *("-ffast-math", "-fopenmp", "-funroll-loops"),
        *cpu_flags((), checked=True, hip=True),
    )
)
"""Flags for which the header is compiled: what others do to it isn't known."""
_AGAIN = f"#pragma once\n#include_next <{HEADER}>\n"
"""What is found in place of torch's own: compiled in advance, or where it can't be used, and when a
file names it again."""
_SAY_FLAGS = """
import sys, tempfile, torch.utils.cpp_extension as extension
extension._run_ninja_build = extension._import_module_from_library = lambda *a, **k: None
with tempfile.TemporaryDirectory() as folder:
    extension.load_inline("any", "", extra_cflags=sys.argv[1:], build_directory=folder)
    print(next(line for line in open(folder + "/build.ninja") if line.startswith("cflags = ")))
"""
"""What torch itself would tell the compiler, without a build."""


class PrecompiledHeaders:
    """On disk, by torch, Python and compiler, and then by flags. Several hosts may share them."""

    def __init__(self, base: Path, turns: Turns | None = None) -> None:
        """`base`: a folder that only its owner can write. `turns`: to measure, during which nothing
        is compiled; None: nobody measures here. Raises OSError."""
        self._base = base
        self._is_measured = turns.is_taken if turns else _never
        self.folder = base / _made_of()
        """What a sandbox shows."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o755)

    @classmethod
    def below(cls, cache: Path | None, turns: Turns | None = None) -> Self | None:
        """In a folder of the cache of builds. None: there is no such cache, or no torch, or the
        folder can't be used; then nothing is compiled in advance."""
        if cache is None or find_spec("torch") is None:
            return None
        try:
            BuildCache(cache)  # which others can't write
            return cls(cache / _BELOW, turns)
        except OSError:
            return None

    def make(self, flags: tuple[str, ...], is_unwanted: Callable[[], bool]) -> None:
        """Compile the header for these flags, unless that is done or has failed before, or there is
        no place; waits for others who do. `is_unwanted`: whether to stop."""
        headers = self.folder / variant(flags)
        if _is_decided(headers) or shutil.disk_usage(self._base).free < _ROOM_BYTES:
            return
        with contextlib.suppress(OSError):
            if self._has_room():
                self._make(flags, headers, is_unwanted)

    def _make(self, flags: tuple[str, ...], headers: Path, is_unwanted: Callable[[], bool]) -> None:
        with self._alone(is_unwanted) as is_ours:
            if is_ours and not _is_decided(headers) and self._has_room():
                self._compile(flags, headers, is_unwanted)
                self._prune()

    def _compile(
        self, flags: tuple[str, ...], headers: Path, is_unwanted: Callable[[], bool]
    ) -> None:
        for left in self._base.glob(f"{_MAKING}*"):  # by a host that was killed
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=self._base, prefix=_MAKING) as fresh:
            made = Path(fresh, "made")
            if _compiled(flags, made, Path(fresh), is_unwanted, self._is_measured):
                target, header = headers / COMPILED, headers / HEADER
                target.parent.mkdir(parents=True, exist_ok=True)
                header.write_text(_AGAIN)
                os.utime(made, (1, 1))  # older than whatever is built with it
                made.replace(target)
                for path, mode in ((headers, 0o755), (target.parent, 0o755), (header, 0o644)):
                    path.chmod(mode)  # whatever the host's own mask is: a runner is another user
                target.chmod(0o644)
            elif not is_unwanted():
                headers.mkdir(exist_ok=True)
                (headers / _FAILED).touch()

    @contextlib.contextmanager
    def _alone(self, is_unwanted: Callable[[], bool]) -> Iterator[bool]:
        """One at a time of all processes. False: it isn't wanted any more."""
        with Path(self._base, "lock").open("a") as lock:
            while not is_unwanted():
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    time.sleep(_POLL_S)
                else:
                    yield True
                    return
            yield False

    def _has_room(self) -> bool:
        """Whether there is room for another list of flags. Raises OSError."""
        last_used_s = sorted(
            (path.stat().st_mtime for path in self._stored_folders()), reverse=True
        )
        return len(last_used_s) < MOST or last_used_s[MOST - 1] < time.time() - _STAYS_S

    def _prune(self) -> None:
        """Delete what wasn't used for longest. A compiler that has it open keeps it."""
        found = sorted(
            self._stored_folders(), key=lambda path: path.stat().st_mtime_ns, reverse=True
        )
        for path in found[MOST:]:
            shutil.rmtree(path, ignore_errors=True)

    def _stored_folders(self) -> list[Path]:
        return [path for path in self._base.glob("*/*") if path.is_dir()]


def flags_of(job: JobSpec) -> tuple[tuple[str, ...], ...]:
    """With which flags g++ will compile extensions of the job's files, as far as their texts say;
    those are left out for which nothing is compiled in advance."""
    if job.problem.lang is not Lang.PY:
        return ()
    found: dict[tuple[str, ...], None] = {}
    for author in authors_of(job):
        text = author.source.text
        if not _reads_header(text):
            continue
        given = [tuple(_TEXT.findall(one)) for one in _FLAGS_GIVEN.findall(text)]
        if not given and "extra_cflags" not in text:
            given = [()]
        if has_kernels_on_cpu(author.job(job)):
            hip = mentions_hip(text)
            given = [cpu_flags(flags, checked=job.checked, hip=hip) for flags in given]
        found |= dict.fromkeys(flags for flags in given[:2] if _KNOWN.issuperset(flags))
    return tuple(found)


def _reads_header(text: str) -> bool:
    """Whether a file has g++ read the header: `load_inline` names it by itself."""
    calls = set(_CALLS.findall(text)) if "cpp_extension" in text else set()
    names_it = HEADER in text
    return bool(calls) and (names_it or (_INLINE in calls and _WITHOUT_HEADER not in text))


def _is_decided(headers: Path) -> bool:
    with contextlib.suppress(OSError):
        os.utime(headers)  # so that it counts as used
    return (headers / COMPILED).exists() or _has_failed(headers / _FAILED)


def _has_failed(mark: Path) -> bool:
    """Whether it failed lately: what a busy machine had no time for is tried again another day."""
    with contextlib.suppress(OSError):
        return time.time() - mark.stat().st_mtime < _FAILED_FOR_S
    return False


def _made_of() -> str:
    """A name for all that the header depends on but flags."""
    torch = find_spec("torch")
    locations = list(torch.submodule_search_locations or ()) if torch else []
    parts = [locations, package_version("torch"), sys.version, compiler_version(_COMPILER)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _never() -> bool:
    return False


def _compiled(
    flags: tuple[str, ...],
    made: Path,
    folder: Path,
    is_unwanted: Callable[[], bool],
    is_measured: Callable[[], bool],
) -> bool:
    compiler, torch = installed_program(_COMPILER), find_spec("torch")
    origin = torch.origin if torch else None
    if compiler is None or origin is None or inside(origin) != origin:
        return False
    said = folder / "flags"
    command = [sys.executable, "-I", "-c", _SAY_FLAGS, *flags]
    if not _ended_well(command, folder, said, is_unwanted, is_measured):
        return False
    told = shlex.split(said.read_text().partition(" = ")[2])
    kept = [flag for flag in told if not flag.startswith(_ONLY_FOR_ONE)]
    source = folder / HEADER
    source.parent.mkdir()
    source.write_text(_AGAIN)
    command = [compiler, "-x", "c++-header", "-w", *kept, str(source), "-o", str(made)]
    output = folder / "output"
    return _ended_well(command, folder, output, is_unwanted, is_measured) and made.exists()


def _ended_well(
    command: list[str],
    folder: Path,
    output: Path,
    is_unwanted: Callable[[], bool],
    is_measured: Callable[[], bool] = _never,
) -> bool:
    """Whether it did, within `_LIMIT_S`, during which nobody measured."""
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder)}
    environment |= {"TMPDIR": str(folder), "LANG": "C.UTF-8"}
    with output.open("wb") as stdout:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            process_group=0,  # of our session: stopped, the system ends it if we are killed
        )
        deadline, stood_s = time.monotonic() + _LIMIT_S, 0.0
        try:
            while process.poll() is None:
                stood_s += _give_way(process, is_unwanted, is_measured, _GIVES_WAY_S - stood_s)
                if is_unwanted() or time.monotonic() > deadline + stood_s:
                    return False
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_POLL_S)
        finally:
            if process.poll() is None:  # with the compiler that it has started
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return process.returncode == 0


def _give_way(
    process: subprocess.Popen[bytes],
    is_unwanted: Callable[[], bool],
    is_measured: Callable[[], bool],
    longest_s: float,
) -> float:
    """Have a compiler stand still while somebody measures; returns for how long, in seconds."""
    start = time.monotonic()
    if longest_s <= 0 or not is_measured():
        return 0.0
    os.killpg(process.pid, signal.SIGSTOP)
    try:
        while not is_unwanted() and time.monotonic() < start + longest_s:
            time.sleep(_WAY_POLL_S)
            if not is_measured():
                break
    finally:
        os.killpg(process.pid, signal.SIGCONT)
    return time.monotonic() - start
