"""The ranks of submissions."""

from collections.abc import Sequence

from kernelbot.domain.versioned_cache import VersionedCache
from kernelbot.ranking import store as rankings
from kernelbot.store.database import ReadSession
from kernelbot.submissions.model import BestSubmission, Rank, RankedSubmission

_RANKS = 20_000


class RankCache:
    """Finds ranks, and keeps each until its ranking changes: finding one means counting all
    rows before it."""

    def __init__(self) -> None:
        self._ranks = VersionedCache[tuple[int, str, int], Rank](_RANKS)

    async def get_ranked(
        self, session: ReadSession, found: Sequence[BestSubmission]
    ) -> list[RankedSubmission]:
        """The ranks of the submissions. Doesn't query the database if all are kept."""
        ranks = {best.key: self._ranks.get(best.key, best.version) for best in found}
        unknown = [key for key, rank in ranks.items() if rank is None]
        if unknown:
            counted = await rankings.ranks(session, unknown)
            for best in found:
                if (rank := counted.get(best.key)) is not None:
                    self._ranks.keep(best.key, best.version, rank)
            ranks.update(counted)
        return [
            RankedSubmission(best.submission_id, best.device, rank)
            for best in found
            if (rank := ranks[best.key]) is not None
        ]
