"""The judge lends pieces of its memory on a device to a process of the problem's."""

from typing import Any

from kernelbot.harness.inside.gpu.arena import Piece, Pool


class Lender:
    """What one process has been lent of one pool."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._chunks: set[int] = set()

    def lend(self, piece: Piece) -> tuple[dict[str, Any], tuple[int, ...]]:
        """Where a piece lies, for a message, and the descriptor of its chunk if that is new to the
        process; the caller sends it and closes it. Raises `GpuError`."""
        chunk = piece.chunk
        lives = self._pool.chunks()
        is_new = chunk.number not in self._chunks
        self._chunks = {number for number in (*self._chunks, chunk.number) if number in lives}
        where = {"chunk": chunk.number, "chunk_bytes": chunk.arena.size_bytes, "live": lives}
        message = {**where, "offset": piece.offset, "size": piece.size_bytes}
        return message, (chunk.arena.export(),) if is_new else ()
