"""What an organiser does with `popcorn admin`, and with the routes other front ends use."""

import pytest

from tests.conformance import submissions
from tests.conformance.popcorn_cli import (
    ClientFailure,
    PopcornAdmin,
    Submitted,
)
from tests.conformance.target import DIRECTORY


def test_any_submission_can_be_read(admin: PopcornAdmin, ranked: Submitted) -> None:
    answer = admin.call("GET", f"/submissions/{ranked.id}")
    assert "ok" == answer["status"]
    found = answer["submission"]
    assert ranked.id in (found.get("id"), found.get("submission_id"))
    assert submissions.correct().content.decode() == found["code"]


def test_an_unknown_submission_is_not_found(admin: PopcornAdmin) -> None:
    with pytest.raises(ClientFailure, match=r"status 404"):
        admin.call("GET", f"/submissions/{2**62}")


class TestBoards:
    """Boards made from a folder, and deleted."""

    @pytest.mark.parametrize(
        "directory", ["no_such_problem", "../../etc", "/etc", "", "a'; echo x", "\x00"]
    )
    def test_a_folder_that_is_no_problem_is_a_400(
        self, admin: PopcornAdmin, directory: str
    ) -> None:
        with pytest.raises(ClientFailure) as failure:
            admin.call("POST", "/leaderboards", {"directory": directory})
        assert 400 == failure.value.status

    def test_a_dev_board_is_named_after_its_folder(self, board: str) -> None:
        assert f"{DIRECTORY}-dev" == board
