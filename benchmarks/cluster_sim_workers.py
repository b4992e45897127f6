"""The worker processes of `cluster_sim`."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.cluster_sim_plan import Options
from benchmarks.processor_time import processor_s

ROOT = Path(__file__).resolve().parent.parent


class Workers:
    """Worker processes; one that is killed is followed by another."""

    def __init__(self, url: str, folder: Path, options: Options) -> None:
        slots = (f"{device}={count}" for device, count in options.slots().items())
        self._command = [sys.executable, "-m", "benchmarks.cluster_sim_launchers", url]
        self._command += [str(folder), str(options.speed), *slots]
        self._log = (folder / "workers.log").open("ab")
        self._used_s = 0.0
        self._processes = [self._start() for _ in range(options.workers)]

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._command, cwd=ROOT, stdin=subprocess.PIPE, stdout=self._log, stderr=self._log
        )

    def kill_one(self) -> None:
        """SIGKILL to the oldest, and another instead."""
        oldest = self._processes.pop(0)
        self._used_s += processor_s(oldest.pid)
        oldest.kill()
        _close(oldest)
        self._processes.append(self._start())

    def used_s(self) -> float:
        """Processor time of all so far."""
        return self._used_s + sum(processor_s(each.pid) for each in self._processes)

    def memory_bytes(self) -> int:
        """Of the largest."""
        return max(_memory_bytes(each.pid) for each in self._processes)

    def stop(self) -> None:
        """All end."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            _close(process)
        self._log.close()


def _close(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    process.wait()


def _memory_bytes(pid: int) -> int:
    with contextlib.suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0
