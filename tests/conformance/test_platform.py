"""What organisers set: pause, bans, visibility, rate limits, late submissions."""

from collections.abc import Iterator

import httpx
import pytest

from tests.conformance import submissions
from tests.conformance.popcorn_cli import (
    ClientFailure,
    PopcornAdmin,
    PopcornCli,
    Submitted,
    multipart,
)
from tests.conformance.target import Target


class TestStartAndStop:
    """The platform stops and starts taking submissions."""

    @pytest.fixture
    def stopped(self, admin: PopcornAdmin) -> Iterator[None]:
        """While it takes none."""
        assert {"status": "ok", "accepts_jobs": False} == admin.call("POST", "/stop")
        yield
        assert {"status": "ok", "accepts_jobs": True} == admin.call("POST", "/start")

    @pytest.mark.usefixtures("stopped")
    def test_a_stopped_platform_answers_503(
        self, author: PopcornCli, board: str, device: str
    ) -> None:
        with pytest.raises(ClientFailure, match=r"Server returned status 503: .+"):
            author.accept(submissions.correct(), board, device, "test")

    @pytest.mark.usefixtures("stopped")
    def test_utf8_is_checked_before(self, author: PopcornCli, board: str, device: str) -> None:
        with pytest.raises(ClientFailure, match=r"status 400: .*UTF-8"):
            author.accept(submissions.containing(b"\xff"), board, device, "test")

    @pytest.mark.usefixtures("stopped")
    def test_the_file_name_is_checked_after(
        self, author: PopcornCli, board: str, device: str
    ) -> None:
        with pytest.raises(ClientFailure, match=r"status 503"):
            author.accept(submissions.named("kernel.txt"), board, device, "test")

    @pytest.mark.usefixtures("stopped")
    def test_it_can_still_be_read(self, author: PopcornCli, board: str) -> None:
        assert author.gpus(board)

    def test_starting_twice_is_as_good_as_once(self, admin: PopcornAdmin) -> None:
        expected = {"status": "ok", "accepts_jobs": True}
        assert [expected, expected] == [admin.call("POST", "/start") for _ in range(2)]


class TestBans:
    """A banned author submits nothing, and nothing else changes."""

    @pytest.fixture
    def banned(self, admin: PopcornAdmin, author: PopcornCli, tested: Submitted) -> Iterator[None]:
        """While the author is banned."""
        user_id = tested.details["user_id"]
        admin.call("POST", f"/ban/{user_id}")
        yield
        admin.call("DELETE", f"/ban/{user_id}")

    @pytest.mark.usefixtures("banned")
    def test_a_banned_author_is_forbidden_to_submit(
        self, author: PopcornCli, board: str, device: str
    ) -> None:
        with pytest.raises(ClientFailure, match=r"Server returned status 403: .*banned"):
            author.accept(submissions.correct(), board, device, "test")

    @pytest.mark.usefixtures("banned")
    def test_the_ban_is_checked_before_the_file_name(
        self, author: PopcornCli, board: str, device: str
    ) -> None:
        with pytest.raises(ClientFailure, match=r"status 403"):
            author.accept(submissions.named("kernel.txt"), board, device, "test")

    @pytest.mark.parametrize("user_id", ["999999999", "no-such-user", "99999999999999999999999"])
    def test_an_unknown_author_is_not_found(self, admin: PopcornAdmin, user_id: str) -> None:
        with pytest.raises(ClientFailure, match=r"status 404"):
            admin.call("POST", f"/ban/{user_id}")


class TestVisibility:
    """Closed boards are their members'."""

    @pytest.fixture
    def closed(self, admin: PopcornAdmin, board: str) -> Iterator[None]:
        """While the board is closed."""
        path = f"/leaderboards/{board}/visibility"
        assert "closed" == admin.call("POST", path, {"visibility": "closed"})["visibility"]
        yield
        admin.call("POST", path, {"visibility": "public"})

    @pytest.mark.usefixtures("closed")
    def test_strangers_do_not_see_a_closed_board(self, stranger: PopcornCli, board: str) -> None:
        assert board not in [name for name, _ in stranger.leaderboards()]

    @pytest.mark.usefixtures("closed")
    def test_who_is_not_a_member_may_not_submit(
        self, other: PopcornCli, board: str, device: str
    ) -> None:
        with pytest.raises(ClientFailure, match=r"Server returned status 403: .+"):
            other.accept(submissions.correct(), board, device, "test")

    def test_another_word_is_a_400(self, admin: PopcornAdmin, board: str) -> None:
        with pytest.raises(ClientFailure, match=r"status 400"):
            admin.call("POST", f"/leaderboards/{board}/visibility", {"visibility": "secret"})


class TestRateLimits:
    """So many submissions an hour, by category."""

    @pytest.fixture
    def none_allowed(self, admin: PopcornAdmin, board: str) -> Iterator[None]:
        """While the board takes no tests."""
        path = f"/leaderboards/{board}/rate-limits"
        admin.call("PUT", path, {"mode_category": "test", "max_submissions_per_hour": 0})
        yield
        admin.call("DELETE", f"{path}/test")

    @pytest.mark.usefixtures("none_allowed")
    def test_beyond_the_limit_is_a_429_with_retry_after(
        self, author: PopcornCli, board: str, device: str
    ) -> None:
        body, content_type = multipart(submissions.correct())
        path = f"/submission/{board}/{device}/test"
        answer = author.wire.send("POST", path, limit_s=60, body=body, content_type=content_type)
        assert 429 == answer.status_code
        assert int(answer.headers["retry-after"]) > 0
        assert isinstance(answer.json()["detail"], str)

    @pytest.mark.usefixtures("none_allowed")
    def test_limits_are_listed(self, admin: PopcornAdmin, board: str) -> None:
        answer = admin.call("GET", f"/leaderboards/{board}/rate-limits")
        found = [
            (limit["mode_category"], limit["max_submissions_per_hour"])
            for limit in answer["rate_limits"]
        ]
        assert [("test", 0)] == found

    @pytest.mark.parametrize(
        "body",
        [
            {"mode_category": "test", "max_submissions_per_hour": -1},
            {"mode_category": "test", "max_submissions_per_hour": "many"},
            {"mode_category": "test", "max_submissions_per_hour": 2**63},
            {"mode_category": "nonsense", "max_submissions_per_hour": 1},
            {},
        ],
    )
    def test_a_limit_that_is_none_is_a_400(
        self, admin: PopcornAdmin, board: str, body: dict[str, object]
    ) -> None:
        with pytest.raises(ClientFailure, match=r"status 400"):
            admin.call("PUT", f"/leaderboards/{board}/rate-limits", body)


def test_a_late_submission_needs_both_tokens(
    target: Target, author: PopcornCli, admin: PopcornAdmin, board: str, device: str
) -> None:
    body, content_type = multipart(submissions.correct())
    url = f"{target.url}/admin/submission/{board}/{device}/test"
    user = {"X-Popcorn-Cli-Id": target.token or ""}
    organiser = {"Authorization": f"Bearer {target.admin_token}"}
    statuses = [
        httpx.post(
            url, content=body, headers={"Content-Type": content_type, **headers}, timeout=60
        ).status_code
        for headers in (user, organiser, {**user, **organiser})
    ]
    assert [401, 400, 202] == statuses
