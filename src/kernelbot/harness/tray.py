"""Where one runner's timed calls on a CPU find their data, and where the judge takes their output.

Data is written and output is read while the runner stands still; who uses a tray sees to that.
"""

import ctypes
import os
from typing import Any

from kernelbot.harness.failure import claimed, garbage, no_value, output_size
from kernelbot.harness.memory import SharedBuffer
from kernelbot.harness.rebuild import InvalidValue, decode
from kernelbot.harness.session import Session
from kernelbot.harness.stillness import maps_file, read_memory
from kernelbot.harness.values import Encoded, Json, leaf_kinds, leaf_sizes
from kernelbot.harness.windows import Reply

_PAGE = 4096


class Tray:
    """The memory of one session's timed calls."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._pid = session.clocks.main_pid
        self._input: SharedBuffer | None = None
        self._base = 0

    def attach(self, data: Encoded, reuse: bool, kernel: str) -> None:
        """Have arrays laid over memory whose contents are old; the runner will say `ready`.

        `reuse`: where the last call's data lay. The runner must be awake.
        """
        buffer, fds = self._slot(data.size_bytes, reuse)
        self._write(buffer, data, early=True)
        message = {"op": "attach", "data": data.skeleton, "base": self._base, "kernel": kernel}
        self._session.send({**message, "input": bool(fds)}, fds)

    def reveal(self, data: Encoded) -> None:
        """Write the arrays of the call that was attached."""
        if self._input is not None:
            self._write(self._input, data, early=False)

    def take(self, reply: dict[str, Any]) -> Reply:
        """The output that a runner's answer to `go` tells of. Raises `AuthorFailure`."""
        size, addresses = output_size(reply, self._session.limits), reply.get("at")
        if not isinstance(addresses, list):
            raise garbage(reply)
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
            raise no_value(error) from error
        aliased = self._aliased(reply.get("value"), addresses)
        return Reply(value, claimed(reply), size, aliased, len(addresses))

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

    def close(self) -> None:
        """Give the shared memory back."""
        if self._input is not None:
            self._input.close()

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
