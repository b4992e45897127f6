"""Rankings, and what keeps them right: one method per route."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelbot.client.calls import Query, Request, ask, described, part, send, text

if TYPE_CHECKING:
    from kernelbot.duels.model import Duel
    from kernelbot.duels.schemas import DuelList, DuelSamples
    from kernelbot.moderation.rejudges.model import Rejudge
    from kernelbot.ranking.authors.model import Author
    from kernelbot.ranking.following.model import Following
    from kernelbot.ranking.model import StandingsPage


class RankingCalls:
    """Part of the clients."""

    @described
    def standings(
        self, board: str, device: str | None = None, *, limit: int = 50, offset: int = 0
    ) -> Request[StandingsPage]:
        """One page of a ranking. `device` None: the board's first."""
        from kernelbot.ranking.model import StandingsPage

        query = {"device": device, "limit": limit, "offset": offset}
        return ask(StandingsPage, "GET", f"/boards/{part(board)}/standings", query=query)

    @described
    def standings_csv(
        self, board: str, device: str | None = None, *, offset: int = 0
    ) -> Request[str]:
        """A whole ranking as CSV, 10,000 authors at most. `device` None: the board's first."""
        query = {"device": device, "offset": offset}
        return text(f"/boards/{part(board)}/standings.csv", query)

    @described
    def author(
        self, author_id: int, *, limit: int = 50, before_id: int | None = None
    ) -> Request[Author]:
        """An author on the boards that the caller may see. `before_id`: scores of earlier
        submissions alone."""
        from kernelbot.ranking.authors.model import Author

        query: Query = {"limit": limit, "before_id": before_id}
        return ask(Author, "GET", f"/authors/{author_id}", query=query)

    @described
    def author_named(
        self, name: str, *, limit: int = 50, before_id: int | None = None
    ) -> Request[Author]:
        """The same by name, in upper or lower case."""
        from kernelbot.ranking.authors.model import Author

        query: Query = {"name": name, "limit": limit, "before_id": before_id}
        return ask(Author, "GET", "/authors", query=query)

    @described
    def following(self) -> Request[Following]:
        """What the caller follows, and the latest there."""
        from kernelbot.ranking.following.model import Following

        return ask(Following, "GET", "/following")

    @described
    def follow_board(self, board: str) -> Request[None]:
        """Follow a board."""
        return send("PUT", f"/following/boards/{part(board)}")

    @described
    def unfollow_board(self, board: str) -> Request[None]:
        """Follow a board no longer."""
        return send("DELETE", f"/following/boards/{part(board)}")

    @described
    def follow_author(self, author_id: int) -> Request[None]:
        """Follow an author."""
        return send("PUT", f"/following/authors/{author_id}")

    @described
    def unfollow_author(self, author_id: int) -> Request[None]:
        """Follow an author no longer."""
        return send("DELETE", f"/following/authors/{author_id}")

    @described
    def duels(
        self,
        board: str,
        device: str | None = None,
        *,
        submission_id: int | None = None,
        limit: int = 50,
        before_id: int | None = None,
    ) -> Request[DuelList]:
        """A board's duels, the newest first. `device` None: on all of its devices.
        `submission_id`: only those that it was in."""
        from kernelbot.duels.schemas import DuelList

        query = {
            "device": device,
            "submission_id": submission_id,
            "limit": limit,
            "before_id": before_id,
        }
        return ask(DuelList, "GET", f"/boards/{part(board)}/duels", query=query)

    @described
    def duel(self, board: str, duel_id: int) -> Request[Duel]:
        """One duel."""
        from kernelbot.duels.model import Duel

        return ask(Duel, "GET", f"/boards/{part(board)}/duels/{duel_id}")

    @described
    def duel_samples(self, board: str, duel_id: int) -> Request[DuelSamples]:
        """Every pair of a duel's calls."""
        from kernelbot.duels.schemas import DuelSamples

        return ask(DuelSamples, "GET", f"/boards/{part(board)}/duels/{duel_id}/samples")

    @described
    def rejudge(
        self, board: str, device: str | None = None, top: int | None = None
    ) -> Request[Rejudge]:
        """Measure a board's best again. `device` None: the board's first."""
        from kernelbot.moderation.rejudges.model import Rejudge
        from kernelbot.moderation.rejudges.schemas import NewRejudge

        body = NewRejudge(device=device, top=top)
        return ask(Rejudge, "POST", f"/boards/{part(board)}/rejudges", body=body)

    @described
    def rejudge_of(self, board: str, rejudge_id: int) -> Request[Rejudge]:
        """A rejudge and how far it is."""
        from kernelbot.moderation.rejudges.model import Rejudge

        return ask(Rejudge, "GET", f"/boards/{part(board)}/rejudges/{rejudge_id}")

    @described
    def end_rejudge(self, board: str, rejudge_id: int) -> Request[Rejudge]:
        """End a rejudge before its time; the ranking stays as it is."""
        from kernelbot.moderation.rejudges.model import Rejudge

        return ask(Rejudge, "DELETE", f"/boards/{part(board)}/rejudges/{rejudge_id}")
