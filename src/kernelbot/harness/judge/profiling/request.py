"""Requests the framework's profile of a call from a runner."""

from collections.abc import Callable

from kernelbot.harness.data.encode import Encoded
from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.inside.profiling.calls import MAX_TEXT
from kernelbot.harness.words.runner_messages import ProfileCall, Profiled

_TRACE_BYTES = 16 << 20


class ProfileRequest:
    """One request and its answer. Must be closed."""

    def __init__(self, send: Callable[[ProfileCall, list[int]], None], data: Encoded) -> None:
        """Send the data, and memory for the trace."""
        self._given = SharedBuffer.create(data.size_bytes)
        self._taken = SharedBuffer.create(_TRACE_BYTES)
        data.copy_to(self._given)
        send(ProfileCall(data.skeleton), [self._given.fd, self._taken.fd])

    def answer(self, profiled: Profiled) -> tuple[str, bytes]:
        """A table and a gzipped trace (may be empty), not trusted."""
        text, size = profiled.text, profiled.size
        if size > _TRACE_BYTES:
            left_out = f"\nThe trace is left out: it has more than {_TRACE_BYTES >> 20} MiB."
            return text[:MAX_TEXT] + left_out, b""
        return text[:MAX_TEXT], self._taken.read(0, max(size, 0))

    def close(self) -> None:
        """Release the memory."""
        self._given.close()
        self._taken.close()
