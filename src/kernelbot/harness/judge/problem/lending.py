"""The judge lends pieces of its memory on a device to a process of the problem's."""

from kernelbot.harness.inside.gpu.arena import ArenaPiece, ArenaPool
from kernelbot.harness.words.cage_messages import LentPiece


class Lender:
    """What one process has been lent of one pool."""

    def __init__(self, pool: ArenaPool) -> None:
        self._pool = pool
        self._chunks: set[int] = set()

    def lend(self, piece: ArenaPiece) -> tuple[LentPiece, tuple[int, ...]]:
        """Where a piece lies, for a message, and the descriptor of its chunk if that is new to the
        process; the caller sends it and closes it. Raises `GpuError`."""
        chunk = piece.chunk
        lives = self._pool.chunks()
        is_new = chunk.number not in self._chunks
        self._chunks = {number for number in (*self._chunks, chunk.number) if number in lives}
        lent = LentPiece(
            chunk.number, chunk.arena.size_bytes, tuple(lives), piece.offset, piece.size_bytes
        )
        return lent, (chunk.arena.export(),) if is_new else ()
