"""Timed calls on a GPU: data and output are copied, since nothing there can be held still."""

import time
from dataclasses import replace
from typing import Any

from kernelbot.harness.judge.calls.probes import choose
from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.timing.clocks import CacheFlusher, own_delay_ns
from kernelbot.harness.words import runner_messages as messages
from kernelbot.harness.words.windows import Reply


class CopyingCaller:
    """Makes the timed calls of one runner, or of all ranks."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def timed_call(
        self, data: Any, flusher: CacheFlusher | None, reuse: bool, kernel: str = "author"
    ) -> Reply:
        """One call between the judge's clocks. If there is a `flusher`, the runners flush their
        GPU's caches at the last moment. Raises `AuthorFailure`."""
        session = self._session
        parts = session.parts(data)
        ranks = session.ranks
        clocks = ranks[0].clocks
        probes = [choose() for _ in ranks]
        idle_ns = session.tree_cpu_ns()
        for one, part in zip(ranks, parts, strict=True):
            one.offer(part, kernel, reuse=reuse)
        session.gather(messages.IsReady)
        built_ns = session.tree_cpu_ns()
        before = clocks.main_thread() or (0, 0)
        rested_ns = session.tree_cpu_ns()
        start = time.perf_counter_ns()
        delayed_ns = own_delay_ns()
        for one, places in zip(ranks, probes, strict=True):
            one.send(messages.GoAndCopy(places, cold=flusher is not None))
        session.gather(messages.Returned)
        bracket_ns = time.perf_counter_ns() - start
        delayed_ns = own_delay_ns() - delayed_ns
        after = clocks.main_thread() or (0, 0)
        computed_ns = session.tree_cpu_ns() - rested_ns
        for one in ranks:
            one.send(messages.Take())
        reply = session.together(session.outcomes(session.gather(messages.Done), probes))
        last = clocks.main_thread() or (0, 0)
        window = replace(
            reply.window,
            bracket_ns=bracket_ns,
            call_tree_cpu_ns=computed_ns,
            processors=clocks.processors(),
        )
        if len(ranks) == 1:  # a rank may be charged for what others wait for
            window = replace(
                window,
                build_cpu_ns=built_ns - idle_ns,
                still_cpu_ns=rested_ns - built_ns,
                after_cpu_ns=last[0] - after[0],
                call_cpu_ns=after[0] - before[0],
                waiting_ns=after[1] - before[1] + delayed_ns,
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
