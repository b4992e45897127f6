"""Timed calls on a CPU: data appears and output is taken while the runner stands still.

The author's code owns its process, so the harness's half of it can't be trusted with anything
that counts. Here it only builds arrays over shared memory, calls, and says where the output lies:

    attach   the runner lays arrays over a stretch of shared memory whose contents are old
    (halt)   the judge stops all its processes, writes the call's data there, flushes the caches
    go       the judge looks at its clock, then wakes the runner, which calls the kernel
    done     the judge looks at its clock, stops the runner again, and reads the output itself

So the work can neither begin before the judge's first look nor end after its second, and what the
runner claims to have taken is held against the judge's own bracket, which copies nothing.
"""

import time
from dataclasses import replace

from kernelbot.harness.clocks import CacheFlusher, urgent
from kernelbot.harness.failure import garbage
from kernelbot.harness.session import Session
from kernelbot.harness.stillness import RunnerTree
from kernelbot.harness.tray import Tray
from kernelbot.harness.values import Encoded
from kernelbot.harness.windows import Reply


class DirectCaller:
    """Makes the timed calls of one session. `release` once no further call follows at once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._tray = Tray(session)
        self._processors = session.clocks.processors()
        self._tree = RunnerTree(session.init_pid, session.clocks.main_pid)

    def timed_call(
        self, data: Encoded, flusher: CacheFlusher | None, reuse: bool, kernel: str = "author"
    ) -> Reply:
        """One call. `reuse`: the data lies where the last call's lay. Raises `AuthorFailure`."""
        session, tree = self._session, self._tree
        tree.resume()
        self._tray.attach(data, reuse, kernel)
        ready = session.receive()
        if ready["op"] != "ready":
            raise garbage(ready)
        tree.halt()
        self._tray.reveal(data)
        if flusher is not None:
            flusher.flush(session.clocks.last_cpu())
        if session.has_message():
            raise garbage({"op": "an answer before the question"})
        before, helped = self._main_thread(), self._helped_ns()
        with urgent():
            start = time.perf_counter_ns()
            session.say_word()
            tree.resume()
            session.wait_for_message()
            end = time.perf_counter_ns()
        waited = self._main_thread()[1] - before[1]
        tree.halt()
        computed = self._main_thread()[0] - before[0]
        helped = self._helped_ns() - helped
        reply = self._tray.take(session.receive())
        window = replace(
            reply.window,
            bracket_ns=end - start,
            call_cpu_ns=computed,
            call_tree_cpu_ns=computed + helped,
            processors=self._processors,
            # Waiting for its own helpers is no excuse: they do the author's work.
            waiting_ns=max(waited - helped, 0),
        )
        return replace(reply, window=window)

    def _main_thread(self) -> tuple[int, int]:
        """ns on a processor, and ns waiting for one; exact at rest."""
        return self._session.clocks.main_thread() or (0, 0)

    def _helped_ns(self) -> int:
        """Processor time of the runner's other threads and processes; exact at rest."""
        return self._session.clocks.tree_cpu_ns() - self._main_thread()[0]

    def hold(self) -> None:
        """Stop the runner until the next call, so that nothing of it can disturb others."""
        self._tree.halt()

    def release(self) -> None:
        """Let the runner go on."""
        self._tree.resume()

    def close(self) -> None:
        """Give the shared memory back."""
        self._tray.close()

    def inputs_changed(self, data: Encoded) -> bool:
        """Whether the last call left its arrays other than they were."""
        return self._tray.inputs_changed(data)
