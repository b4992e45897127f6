"""Closed boards are joined by invite: from the organiser to the author and back."""

import pytest

from tests.conformance.popcorn_cli import ClientFailure, PopcornAdmin, PopcornCli, Submitted


def test_an_unknown_invite_is_a_400(author: PopcornCli) -> None:
    with pytest.raises(ClientFailure, match=r"Server returned status 400: .+"):
        author.join("no-such-invite")


class TestInvites:
    """From the organiser to the author and back."""

    @pytest.fixture
    def code(self, admin: PopcornAdmin, board: str) -> str:
        """An invite nobody has claimed."""
        made = admin.call("POST", "/invites", {"leaderboards": [board], "count": 1})
        code = made["codes"][0]
        assert isinstance(code, str)
        return code

    def test_joining_names_the_boards_and_may_be_repeated(
        self, author: PopcornCli, code: str, board: str
    ) -> None:
        expected = {"status": "ok", "leaderboards": [board]}
        assert [expected, expected] == [author.join(code), author.join(code)]

    def test_an_invite_claimed_by_another_is_a_400(
        self, author: PopcornCli, other: PopcornCli, code: str
    ) -> None:
        author.join(code)
        with pytest.raises(ClientFailure, match=r"status 400"):
            other.join(code)

    def test_several_are_made_for_several_boards(self, admin: PopcornAdmin, board: str) -> None:
        made = admin.call("POST", "/invites", {"leaderboards": [board], "count": 25})
        assert ("ok", [board]) == (made["status"], made["leaderboards"])
        assert 25 == len(set(made["codes"]))

    def test_one_board_may_be_named_alone(self, admin: PopcornAdmin, board: str) -> None:
        made = admin.call("POST", "/invites", {"leaderboard": board, "count": 1})
        assert [board] == made["leaderboards"]

    @pytest.mark.parametrize("count", [0, 10_001, -1, "many", None, True, 1.5])
    def test_a_count_outside_1_to_10000_is_a_400(
        self, admin: PopcornAdmin, board: str, count: object
    ) -> None:
        with pytest.raises(ClientFailure, match=r"status 400: .*count"):
            admin.call("POST", "/invites", {"leaderboards": [board], "count": count})

    def test_an_unknown_board_is_not_found(self, admin: PopcornAdmin) -> None:
        with pytest.raises(ClientFailure, match=r"status 404"):
            admin.call("POST", "/invites", {"leaderboards": ["no-such-board"], "count": 1})

    def test_the_list_says_who_claimed_which(
        self, admin: PopcornAdmin, author: PopcornCli, code: str, board: str, tested: Submitted
    ) -> None:
        before = self._listed(admin, board, code)
        author.join(code)
        after = self._listed(admin, board, code)
        assert {"code", "user_id", "user_name", "claimed_at", "created_at"} <= set(after)
        assert (None, tested.details["user_id"]) == (before["user_id"], after["user_id"])

    def _listed(self, admin: PopcornAdmin, board: str, code: str) -> dict[str, str | None]:
        listed = admin.call("GET", f"/leaderboards/{board}/invites")["invites"]
        return next(invite for invite in listed if invite["code"] == code)

    def test_revoking_says_whether_it_was_claimed(
        self, admin: PopcornAdmin, author: PopcornCli, code: str
    ) -> None:
        author.join(code)
        revoked = admin.call("DELETE", f"/invites/{code}")
        assert (code, True) == (revoked["code"], revoked["was_claimed"])
        with pytest.raises(ClientFailure, match=r"status 404"):
            admin.call("DELETE", f"/invites/{code}")

    def test_a_revoked_invite_opens_nothing(
        self, admin: PopcornAdmin, author: PopcornCli, code: str
    ) -> None:
        assert admin.call("DELETE", f"/invites/{code}")["was_claimed"] is False
        with pytest.raises(ClientFailure, match=r"status 400"):
            author.join(code)
