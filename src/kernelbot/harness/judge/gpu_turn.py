"""A judge's turn on its GPUs. It asks its host for them once it needs them, and has them until it
has given its result: what needs no GPU, as compiling, comes before."""

import time
from collections.abc import Callable

from kernelbot.harness.gpu.readiness import make_ready
from kernelbot.harness.inside.gpu.driver import GpuError
from kernelbot.harness.judge.collected import Collected
from kernelbot.harness.words.plan import Plan
from kernelbot.harness.words.sandbox import SandboxUnavailable


class GpuTurn:
    """One job's turn on its GPU; on a CPU there is nothing to wait for."""

    def __init__(self, plan: Plan, ask: Callable[[], None]) -> None:
        """`ask`: returns once the job's GPUs are its own."""
        self._plan = plan
        self._ask = ask
        self._taken: float | None = None
        self._ready_s = 0.0
        self.waited_s = 0.0
        """How long other jobs had them; none of this job's own time."""
        self.notes: tuple[str, ...] = ()
        """What wasn't done to the GPUs."""

    def take(self) -> None:
        """Wait for the GPUs, and make them ready. Raises `SandboxUnavailable`."""
        if not self._plan.on_gpu:
            return
        start = time.monotonic()
        self._ask()
        self._taken = time.monotonic()
        self.waited_s = self._taken - start
        try:
            plan = self._plan
            kept = plan.most_ranks if plan.in_arenas else 0
            self.notes = tuple(make_ready(plan.job.device, kept=kept, gpus=plan.gpus))
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
