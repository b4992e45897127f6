"""Rankings, and what keeps them right: one method per route."""

from kernelbot.client.calls import Caller, part
from kernelbot.duels.model import Duel
from kernelbot.duels.schemas import DuelList, DuelSamples
from kernelbot.moderation.rejudges.model import Rejudge
from kernelbot.moderation.rejudges.schemas import NewRejudge
from kernelbot.ranking.model import StandingsPage


class RankingCalls:
    """Part of `KernelbotClient`."""

    def standings(
        self: Caller, board: str, device: str | None = None, *, limit: int = 50, offset: int = 0
    ) -> StandingsPage:
        """One page of a ranking. `device` None: the board's first."""
        query = {"device": device, "limit": limit, "offset": offset}
        return self.ask(StandingsPage, "GET", f"/boards/{part(board)}/standings", query=query)

    def standings_csv(
        self: Caller, board: str, device: str | None = None, *, offset: int = 0
    ) -> str:
        """A whole ranking as CSV, 10,000 authors at most. `device` None: the board's first."""
        query = {"device": device, "offset": offset}
        return self.text(f"/boards/{part(board)}/standings.csv", query)

    def duels(
        self: Caller,
        board: str,
        device: str | None = None,
        *,
        submission_id: int | None = None,
        limit: int = 50,
        before_id: int | None = None,
    ) -> DuelList:
        """A board's duels, the newest first. `device` None: on all of its devices.
        `submission_id`: only those that it was in."""
        query = {
            "device": device,
            "submission_id": submission_id,
            "limit": limit,
            "before_id": before_id,
        }
        return self.ask(DuelList, "GET", f"/boards/{part(board)}/duels", query=query)

    def duel(self: Caller, board: str, duel_id: int) -> Duel:
        """One duel."""
        return self.ask(Duel, "GET", f"/boards/{part(board)}/duels/{duel_id}")

    def duel_samples(self: Caller, board: str, duel_id: int) -> DuelSamples:
        """Every pair of a duel's calls."""
        return self.ask(DuelSamples, "GET", f"/boards/{part(board)}/duels/{duel_id}/samples")

    def rejudge(
        self: Caller, board: str, device: str | None = None, top: int | None = None
    ) -> Rejudge:
        """Measure a board's best again. `device` None: the board's first."""
        body = NewRejudge(device=device, top=top)
        return self.ask(Rejudge, "POST", f"/boards/{part(board)}/rejudges", body=body)

    def rejudge_of(self: Caller, board: str, rejudge_id: int) -> Rejudge:
        """A rejudge and how far it is."""
        return self.ask(Rejudge, "GET", f"/boards/{part(board)}/rejudges/{rejudge_id}")
