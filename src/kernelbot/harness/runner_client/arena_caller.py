"""Timed calls on a GPU whose memory can be shared: see `arena_buffers`."""

import time
from dataclasses import replace
from typing import Any

from kernelbot.harness.judge.windows import Reply
from kernelbot.harness.runner_client.arena_buffers import ArenaBuffers
from kernelbot.harness.runner_client.callers import answering
from kernelbot.harness.runner_client.session import Session
from kernelbot.harness.timing.clocks import CacheFlusher, own_delay_ns


class ArenaCaller:
    """Makes the timed calls of one runner."""

    def __init__(self, session: Session, buffers: ArenaBuffers) -> None:
        self._session = session
        self._buffers = buffers
        self._max_bytes: int | None = None

    def bound(self, max_bytes: int | None) -> None:
        """From now on no right output has more bytes than this; None if that isn't known."""
        self._max_bytes = max_bytes

    def timed_call(
        self, data: Any, flusher: CacheFlusher | None, reuse: bool, kernel: str = "author"
    ) -> Reply:
        """One call between the judge's clocks: from when the data is complete until the output is
        in the judge's own memory. If there is a `flusher`, the judge flushes the GPU's cache.
        Raises `AuthorFailure`, `GpuError`."""
        session, buffers, clocks = self._session, self._buffers, self._session.clocks
        idle_ns = session.tree_cpu_ns()
        buffers.lay(data, kernel, reuse=reuse)
        with answering(session):
            session.gather("ready")
        built_ns = session.tree_cpu_ns()
        buffers.reveal(data, cold=flusher is not None)
        before = clocks.main_thread() or (0, 0)
        rested_ns = session.tree_cpu_ns()
        delayed_ns = own_delay_ns()
        start = time.perf_counter_ns()
        session.send({"op": "go"})
        (answer,) = session.gather("returned")
        secured = buffers.secure(answer, self._max_bytes)
        bracket_ns = time.perf_counter_ns() - start
        delayed_ns = own_delay_ns() - delayed_ns
        after = clocks.main_thread() or (0, 0)
        computed_ns = session.tree_cpu_ns() - rested_ns
        with answering(session):
            reply = buffers.value(secured)
        window = replace(
            reply.window,
            bracket_ns=bracket_ns,
            build_cpu_ns=built_ns - idle_ns,
            still_cpu_ns=rested_ns - built_ns,
            call_cpu_ns=after[0] - before[0],
            call_tree_cpu_ns=computed_ns,
            processors=clocks.processors(),
            waiting_ns=after[1] - before[1] + delayed_ns,
        )
        return replace(reply, window=window)

    def hold(self) -> None:
        """Nothing to stop."""

    def release(self) -> None:
        """Nothing was stopped."""

    def close(self) -> None:
        """The session has all there is."""

    def inputs_changed(self, data: Any) -> bool:
        """Whether the last call left its inputs other than they were."""
        return self._buffers.inputs_changed(data)
