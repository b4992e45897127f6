"""A judge's turn on its GPUs. It asks its host for them once it needs them, and has them until it
has given its result: what needs no GPU, as compiling, comes before."""

import time
from collections.abc import Callable

from kernelbot.harness.gpu.judge_device import has_arenas
from kernelbot.harness.gpu.readiness import make_ready
from kernelbot.harness.inside.gpu.driver import GpuError
from kernelbot.harness.judge.collected import Collected
from kernelbot.harness.words.sandbox import SandboxUnavailable
from kernelbot.protocol import JobSpec, Vendor
from kernelbot.protocol.phases import most_gpus, most_ranks


class GpuTurn:
    """Of one job; on a CPU there is nothing to wait for."""

    def __init__(self, job: JobSpec, ask: Callable[[], None]) -> None:
        """`ask`: returns once the job's GPUs are its own."""
        self._job = job
        self._ask = ask
        self._taken: float | None = None
        self._ready_s = 0.0
        self.waited_s = 0.0
        """How long other jobs had them; none of this job's own time."""
        self.notes: tuple[str, ...] = ()
        """What wasn't done to the GPUs."""

    def take(self) -> None:
        """Wait for the GPUs, and make them ready. Raises `SandboxUnavailable`."""
        if self._job.device.vendor is Vendor.CPU:
            return
        start = time.monotonic()
        self._ask()
        self._taken = time.monotonic()
        self.waited_s = self._taken - start
        try:
            kept = most_ranks(self._job.problem) if has_arenas(self._job) else 0
            gpus = most_gpus(self._job.problem)
            self.notes = tuple(make_ready(self._job.device, kept=kept, gpus=gpus))
        except GpuError as error:
            raise SandboxUnavailable(f"The GPU can't be made ready for a job: {error}") from error
        self._ready_s = time.monotonic() - self._taken

    def tell(self, collected: Collected) -> None:
        """Add how long the job waited for its GPUs, and how long it has had them by now. Of a job
        that needed none: nothing."""
        if self._taken is not None:
            collected.timings["gpu_wait"] = self.waited_s
            collected.timings["gpu_ready"] = self._ready_s
            collected.timings["gpu_held"] = time.monotonic() - self._taken
