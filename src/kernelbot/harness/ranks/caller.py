"""Timed calls of all ranks on a CPU: data appears, and output is taken, while all stand still.

What `direct.py` does for one runner happens here for all ranks at once. The judge itself is the
barrier on both sides: all are woken together, and no output is read before all have returned and
been stopped. The time lasts from when the first begins until the last returns; the judge's own
bracket lasts until all have answered, and the processor time of all of them counts.
"""

import time
from dataclasses import replace

from kernelbot.harness.clocks import CacheFlusher, urgent
from kernelbot.harness.failure import garbage
from kernelbot.harness.ranks.session import RankSession, naming, together
from kernelbot.harness.ranks.shares import Shares
from kernelbot.harness.session import Session
from kernelbot.harness.stillness import RunnerTree
from kernelbot.harness.tray import Tray
from kernelbot.harness.windows import Reply


class RankCaller:
    """Makes the timed calls of one `RankSession`."""

    def __init__(self, session: RankSession) -> None:
        self._session = session
        self._sessions: tuple[Session, ...] = ()
        self._trays: tuple[Tray, ...] = ()
        self._tree: RunnerTree | None = None

    def timed_call(
        self, data: Shares, flusher: CacheFlusher | None, reuse: bool, kernel: str = "author"
    ) -> Reply:
        """One call. `reuse`: the data lies where the last call's lay. Raises `AuthorFailure`."""
        session = self._session
        tree = self._seat(len(data.parts))
        tree.resume()
        for tray, part in zip(self._trays, data.parts, strict=True):
            tray.attach(part, reuse, kernel)
        session.gather("ready")
        tree.halt()
        for tray, part in zip(self._trays, data.parts, strict=True):
            tray.reveal(part)
        if flusher is not None:
            for cpu in {one.clocks.last_cpu() for one in self._sessions}:
                flusher.flush(cpu)
        if any(one.has_message() for one in self._sessions):
            raise garbage({"op": "an answer before the question"})
        before, rested = self._main_threads(), session.tree_cpu_ns()
        with urgent():
            start = time.perf_counter_ns()
            for one in self._sessions:
                one.send({"op": "go"})
            tree.resume()
            answers = session.gather("done")
            end = time.perf_counter_ns()
        waited = [waiting for _, waiting in self._since(before)]
        tree.halt()
        computed = [on_cpu for on_cpu, _ in self._since(before)]
        total = session.tree_cpu_ns() - rested
        # Waiting for another rank, or for helpers, is no excuse: they do the author's work.
        excused = [mine - (total - own) for mine, own in zip(waited, computed, strict=True)]
        reply = together([self._take(rank, answer) for rank, answer in enumerate(answers)])
        window = replace(
            reply.window,
            bracket_ns=end - start,
            call_cpu_ns=max(computed),
            call_tree_cpu_ns=total,
            processors=self._sessions[0].clocks.processors(),
            waiting_ns=max(0, *excused),
        )
        return replace(reply, window=window)

    def hold(self) -> None:
        """Stop all ranks until the next call."""
        if self._tree is not None:
            self._tree.halt()

    def release(self) -> None:
        """Let them go on."""
        if self._tree is not None:
            self._tree.resume()

    def close(self) -> None:
        """Give the shared memory back."""
        for tray in self._trays:
            tray.close()
        self._trays = ()

    def inputs_changed(self, data: Shares) -> bool:
        """Whether the last call left any rank's arrays other than they were."""
        pairs = zip(self._trays, data.parts, strict=True)
        return any(tray.inputs_changed(part) for tray, part in pairs)

    def _seat(self, world_size: int) -> RunnerTree:
        """The ranks' processes, and a tray for each of them where they are new."""
        session = self._session
        session.seat(world_size)
        if self._tree is None or self._sessions is not session.sessions:
            self.close()
            self._sessions = session.sessions
            self._trays = tuple(Tray(one) for one in self._sessions)
            self._tree = RunnerTree(session.init_pid, session.main_pid)
        return self._tree

    def _take(self, rank: int, answer: dict[str, object]) -> Reply:
        with naming(rank):
            return self._trays[rank].take(answer)

    def _main_threads(self) -> list[tuple[int, int]]:
        """Of each rank: ns on a processor, and ns waiting for one."""
        return [one.clocks.main_thread() or (0, 0) for one in self._sessions]

    def _since(self, before: list[tuple[int, int]]) -> list[tuple[int, int]]:
        pairs = zip(self._main_threads(), before, strict=True)
        return [(now[0] - then[0], now[1] - then[1]) for now, then in pairs]
