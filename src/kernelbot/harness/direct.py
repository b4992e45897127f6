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

import ctypes
import os
import time
from dataclasses import replace
from typing import Any

from kernelbot.harness.clocks import CacheFlusher, urgent
from kernelbot.harness.failure import AuthorFailure, garbage, refuse, returned
from kernelbot.harness.memory import SharedBuffer
from kernelbot.harness.rebuild import InvalidValue, decode
from kernelbot.harness.session import Session
from kernelbot.harness.stillness import RunnerTree, maps_file, read_memory
from kernelbot.harness.values import Encoded, Json, leaf_kinds, leaf_sizes
from kernelbot.harness.windows import Reply, Window
from kernelbot.protocol import Verdict

_PAGE = 4096


class DirectCaller:
    """Makes the timed calls of one session. `release` once no further call follows at once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._pid = session.clocks.main_pid
        self._processors = session.clocks.processors()
        self._tree = RunnerTree(session.init_pid, self._pid)
        self._input: SharedBuffer | None = None
        self._base = 0

    def timed_call(
        self, data: Encoded, flusher: CacheFlusher | None, reuse: bool, kernel: str = "author"
    ) -> Reply:
        """One call. `reuse`: the data lies where the last call's lay. Raises `AuthorFailure`."""
        session, tree = self._session, self._tree
        buffer, fds = self._slot(data.size_bytes, reuse)
        self._write(buffer, data, early=True)
        tree.resume()
        message = {"op": "attach", "data": data.skeleton, "base": self._base, "kernel": kernel}
        session.send({**message, "input": bool(fds)}, fds)
        ready = session.receive()
        if ready["op"] != "ready":
            raise garbage(ready)
        tree.halt()
        self._write(buffer, data, early=False)
        if flusher is not None:
            flusher.flush(session.clocks.last_cpu())
        if session.has_message():
            raise garbage({"op": "an answer before the question"})
        before, helped = self._main_thread(), self._helped_ns()
        with urgent():
            start = time.perf_counter_ns()
            session.send({"op": "go"})
            tree.resume()
            session.wait_for_message()
            end = time.perf_counter_ns()
        waited = self._main_thread()[1] - before[1]
        tree.halt()
        computed = self._main_thread()[0] - before[0]
        helped = self._helped_ns() - helped
        reply = self._read_out(session.receive())
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
        if self._input is not None:
            self._input.close()

    def inputs_changed(self, data: Encoded) -> bool:
        """Whether the last call left its arrays other than they were."""
        buffer = self._input
        if buffer is None:
            return False
        return any(
            buffer.read(self._base + leaf.offset, leaf.size_bytes)
            != ctypes.string_at(leaf.address, leaf.size_bytes)
            for leaf in data.leaves
        )

    def _slot(self, size_bytes: int, reuse: bool) -> tuple[SharedBuffer, list[int]]:
        """Where the data will lie: where it lay last, or in the buffer's other half."""
        size = -(-max(size_bytes, 1) // _PAGE) * _PAGE
        if self._input is None or self._input.size_bytes < 2 * size:
            self.close()
            self._input = SharedBuffer.create(2 * size)
            self._base = 0
            return self._input, [self._input.fd]
        if not reuse or self._base not in (0, size):
            self._base = size if self._base == 0 else 0
        return self._input, []

    def _write(self, buffer: SharedBuffer, data: Encoded, early: bool) -> None:
        """Arrays only when all stands still; `early` are the leaves that `attach` must read."""
        for kind, leaf in zip(leaf_kinds(data.skeleton), data.leaves, strict=True):
            if early == (kind not in ("tensor", "array")):
                target = buffer.address + self._base + leaf.offset
                ctypes.memmove(target, leaf.address, leaf.size_bytes)

    def _read_out(self, reply: dict[str, Any]) -> Reply:
        session = self._session
        refuse(reply, "The submission failed")
        if reply["op"] == "unsupported":
            raise returned(f"custom_kernel returned {str(reply.get('what'))[:500]}.")
        claim, size, addresses = (reply.get(key) for key in ("claim_ns", "size", "at"))
        if reply["op"] != "done" or type(claim) is not int or type(size) is not int:
            raise garbage(reply)
        if size < 0 or size > session.limits.memory_bytes or not isinstance(addresses, list):
            raise returned(f"custom_kernel returned {size} bytes, more than memory allows.")
        try:
            value = self._copy_out(reply.get("value"), addresses, size)
        except (
            InvalidValue,
            OSError,
            ValueError,
            TypeError,
            KeyError,
            ctypes.ArgumentError,
        ) as error:
            raise AuthorFailure(
                Verdict.RULE_VIOLATION,
                f"What the runner sent as output is not a value: {error}.",
            ) from error
        aliased = self._aliased(reply.get("value"), addresses)
        return Reply(value, Window(claim, 0), size, aliased, len(addresses))

    def _copy_out(self, skeleton: Json, addresses: list[Any], size: int) -> Any:
        stretches = list(leaf_sizes(skeleton))
        buffer = SharedBuffer.create(size)
        try:
            for address, (offset, length) in zip(addresses, stretches, strict=True):
                if offset < 0 or length < 0 or offset + length > size:
                    raise InvalidValue("bytes outside of the output")
                read_memory(self._pid, address, buffer.address + offset, length)
            value, _ = decode(skeleton, buffer, self._session.modules, device="cpu")
        finally:
            buffer.close()
        return value

    def _aliased(self, skeleton: Json, addresses: list[Any]) -> bool:
        """Whether the output lies in the memory of the inputs, as the kernel sees it."""
        if self._input is None:
            return False
        inode = os.fstat(self._input.fd).st_ino
        sizes = [length for _, length in leaf_sizes(skeleton)]
        return any(
            maps_file(self._pid, address, length, inode)
            for address, length in zip(addresses, sizes, strict=True)
        )
