"""Timed calls on a GPU, step by step: see `arena_buffers`, and `copy_buffers` if memory can't be
shared."""

import time
from dataclasses import replace
from typing import Any

from kernelbot.harness.judge.calls.callers import answering
from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.timing.clocks import CacheFlusher, own_delay_ns
from kernelbot.harness.words.windows import Reply


class GpuCaller:
    """Makes the timed calls of one runner, or of all ranks."""

    def __init__(self, session: Session, *, compares_inputs: bool = False) -> None:
        """`compares_inputs`: whether anybody will ask for `inputs_changed`."""
        self._session = session
        self._compares_inputs = compares_inputs
        self._max_bytes: int | None = None

    def bound(self, max_bytes: int | None) -> None:
        """Implements `Caller`."""
        self._max_bytes = max_bytes

    def timed_call(
        self, data: Any, flusher: CacheFlusher | None, reuse: bool, kernel: str = "author"
    ) -> Reply:
        """Implements `Caller`: from when the data is complete until all outputs that can be are in
        the judge's own memory. If there is a `flusher`, the GPUs' caches are flushed. Raises
        `GpuError` too."""
        session = self._session
        parts = session.parts(data)
        steps, clocks = session.steps, session.ranks[0].clocks
        idle_ns = session.tree_cpu_ns()
        with answering(session):
            steps.lay(parts, kernel, reuse=reuse)
        built_ns = session.tree_cpu_ns()
        steps.reveal(parts, cold=flusher is not None)
        before = clocks.main_thread() or (0, 0)
        rested_ns = session.tree_cpu_ns()
        delayed_ns = own_delay_ns()
        start = time.perf_counter_ns()
        secured = steps.call(self._max_bytes)
        bracket_ns = time.perf_counter_ns() - start
        delayed_ns = own_delay_ns() - delayed_ns
        after = clocks.main_thread() or (0, 0)
        computed_ns = session.tree_cpu_ns() - rested_ns
        if self._compares_inputs:
            steps.compare_inputs(parts)
        with answering(session):
            reply = session.together(steps.values(secured))
        last = clocks.main_thread() or (0, 0)
        window = replace(
            reply.window,
            bracket_ns=bracket_ns,
            call_tree_cpu_ns=computed_ns,
            processors=clocks.processors(),
        )
        if len(parts) == 1:  # a rank may be charged for what others wait for
            window = replace(
                window,
                build_cpu_ns=built_ns - idle_ns,
                still_cpu_ns=rested_ns - built_ns,
                after_cpu_ns=last[0] - after[0],
                call_cpu_ns=after[0] - before[0],
                waiting_ns=after[1] - before[1] + delayed_ns,
                waiting_known=True,
            )
        return replace(reply, window=window)

    @property
    def takes_several(self) -> bool:
        """No: each call has a message of its own."""
        return False

    def hold(self) -> None:
        """Nothing to stop."""

    def release(self) -> None:
        """Nothing was stopped."""

    def close(self) -> None:
        """The session has all there is."""

    def inputs_changed(self, data: Any) -> bool:
        """Whether the last call left its inputs other than they were."""
        return self._session.inputs_changed(data)
