"""What holds for every call: paths, tokens, names, error bodies."""

from contextlib import closing

import httpx
import pytest

from tests.conformance import submissions
from tests.conformance.popcorn_cli import ClientFailure, PopcornAdmin, PopcornCli, Wire, multipart
from tests.conformance.target import Target

USER_ROUTES = (
    ("GET", "/user/submissions"),
    ("GET", "/user/submissions/1"),
    ("DELETE", "/user/submissions/1"),
    ("GET", "/gpus/some-board"),
    ("POST", "/submission/some-board/CPU/test"),
    ("POST", "/some-board/CPU/test"),
    ("POST", "/user/join"),
)
ADMIN_ROUTES = (
    ("GET", "/admin/submissions/1"),
    ("DELETE", "/admin/submissions/1"),
    ("DELETE", "/admin/submissions?leaderboard_id=1&user_name=nobody"),
    ("POST", "/admin/leaderboards"),
    ("DELETE", "/admin/leaderboards/some-board"),
    ("GET", "/admin/leaderboards/some-board/submissions"),
    ("GET", "/admin/stats"),
    ("POST", "/admin/update-problems"),
    ("POST", "/admin/export-hf"),
    ("POST", "/admin/start"),
    ("POST", "/admin/stop"),
    ("POST", "/admin/invites"),
    ("GET", "/admin/leaderboards/some-board/invites"),
    ("DELETE", "/admin/invites/some-code"),
    ("POST", "/admin/ban/1"),
    ("DELETE", "/admin/ban/1"),
    ("POST", "/admin/leaderboards/some-board/visibility"),
    ("PUT", "/admin/leaderboards/some-board/rate-limits"),
    ("GET", "/admin/leaderboards/some-board/rate-limits"),
    ("DELETE", "/admin/leaderboards/some-board/rate-limits/test"),
    ("POST", "/admin/submission/some-board/CPU/test"),
)


def ask(target: Target, method: str, path: str, **headers: str) -> httpx.Response:
    """One bare request with a well-formed file if it is a submission."""
    wire = Wire(target.url, {name.replace("_", "-"): value for name, value in headers.items()})
    submits = method == "POST" and path.endswith("/test")
    body, content_type = multipart(submissions.named("a.py")) if submits else (b"{}", None)
    if not submits and method in ("POST", "PUT"):
        content_type = "application/json"
    sent = body if content_type else None
    with closing(wire):
        return wire.send(method, path, limit_s=30, body=sent, content_type=content_type)


def detail(answer: httpx.Response) -> str:
    """The one human sentence that every error body holds."""
    sentence = answer.json()["detail"]
    assert isinstance(sentence, str)
    assert sentence
    return sentence


@pytest.mark.parametrize(("method", "path"), USER_ROUTES)
def test_without_a_token_the_answer_is_400(target: Target, method: str, path: str) -> None:
    answer = ask(target, method, path)
    assert 400 == answer.status_code
    assert "X-Popcorn-Cli-Id" in detail(answer)


@pytest.mark.parametrize(("method", "path"), USER_ROUTES)
def test_with_an_unknown_token_the_answer_is_401(target: Target, method: str, path: str) -> None:
    answer = ask(target, method, path, X_Popcorn_Cli_Id="nobody-has-this")
    assert 401 == answer.status_code
    assert detail(answer)


@pytest.mark.parametrize(("method", "path"), ADMIN_ROUTES)
def test_admin_routes_without_a_token_answer_401(target: Target, method: str, path: str) -> None:
    answer = ask(target, method, path)
    assert 401 == answer.status_code
    assert detail(answer)


@pytest.mark.parametrize(("method", "path"), ADMIN_ROUTES)
def test_admin_routes_with_a_wrong_token_answer_401(target: Target, method: str, path: str) -> None:
    answer = ask(target, method, path, Authorization="Bearer wrong")
    assert 401 == answer.status_code
    assert detail(answer)


def test_an_admin_token_that_is_not_ascii_is_only_wrong(target: Target) -> None:
    answer = httpx.get(
        f"{target.url}/admin/submissions/1",
        headers=[(b"Authorization", "Bearer schlüssel".encode())],
        timeout=60,
    )
    assert 401 == answer.status_code


def test_an_authors_token_opens_no_admin_route(target: Target, author: PopcornCli) -> None:
    answer = ask(target, "GET", "/admin/submissions/1", Authorization=f"Bearer {target.token}")
    assert 401 == answer.status_code


def test_the_admin_token_alone_opens_admin_routes(admin: PopcornAdmin) -> None:
    with pytest.raises(ClientFailure, match=r"status 404"):
        admin.call("GET", f"/submissions/{2**62}")


def test_a_web_front_end_may_send_the_token_in_its_own_header(
    target: Target, author: PopcornCli
) -> None:
    assert target.token
    answer = ask(target, "GET", "/user/submissions", X_Web_Auth_Id=target.token)
    assert 200 == answer.status_code


def test_the_web_header_is_preferred_if_both_come(target: Target, author: PopcornCli) -> None:
    assert target.token
    good_web = ask(
        target, "GET", "/user/submissions", X_Web_Auth_Id=target.token, X_Popcorn_Cli_Id="wrong"
    )
    bad_web = ask(
        target, "GET", "/user/submissions", X_Web_Auth_Id="wrong", X_Popcorn_Cli_Id=target.token
    )
    assert (200, 401) == (good_web.status_code, bad_web.status_code)


def test_doubled_slashes_are_accepted(target: Target, author: PopcornCli) -> None:
    with PopcornCli(target.url + "/", target.token) as careless:
        assert author.leaderboards() == careless.leaderboards()


def test_doubled_slashes_are_accepted_on_submit(
    target: Target, author: PopcornCli, board: str, device: str
) -> None:
    upload = submissions.named("a.txt")
    with (
        PopcornCli(target.url + "/", target.token) as careless,
        pytest.raises(ClientFailure, match=r"status 400: .*\.cpp"),
    ):
        careless.accept(upload, board, device, "test")


def test_board_names_match_in_any_case(author: PopcornCli, board: str) -> None:
    assert author.gpus(board) == author.gpus(board.upper())


def test_names_are_ascii(author: PopcornCli, board: str) -> None:
    names = [name for name, _ in author.leaderboards()] + author.gpus(board)
    assert [] == [name for name in names if not name.isascii()]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/there-is-nothing-here", 404),
        ("GET", "/api/v1/there-is-nothing-here", 404),
        ("POST", "/api/v1/there-is-nothing-here", 404),
        ("PATCH", "/leaderboards", 405),
        ("DELETE", "/health", 405),
        ("GET", "/admin/leaderboards", 405),
    ],
)
def test_paths_and_methods_that_are_not_there_say_so_in_a_sentence(
    target: Target, method: str, path: str, status: int
) -> None:
    answer = ask(target, method, path)
    assert status == answer.status_code
    assert detail(answer)


@pytest.mark.parametrize(
    "path",
    [
        "/user/submissions/not-a-number",
        "/user/submissions/99999999999999999999999",
        "/user/submissions?limit=many",
        "/user/submissions?limit=0",
        "/user/submissions?limit=101",
        "/user/submissions?limit=-1",
        "/user/submissions?offset=-1",
        "/user/submissions?leaderboard=%00",
        "/gpus/%00",
        "/gpus/a%20b",
    ],
)
def test_a_bad_parameter_is_refused_in_a_sentence(
    author: PopcornCli, target: Target, path: str
) -> None:
    assert target.token
    answer = ask(target, "GET", path, X_Popcorn_Cli_Id=target.token)
    assert 400 <= answer.status_code < 500
    assert detail(answer)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'"text"', b"null", b'{"directory": 7}', b"\xff"]
)
def test_a_body_that_is_not_what_was_asked_for_is_refused_in_a_sentence(
    admin: PopcornAdmin, body: bytes
) -> None:
    answer = admin.wire.send(
        "POST", "/admin/leaderboards", limit_s=30, body=body, content_type="application/json"
    )
    assert 400 == answer.status_code
    assert detail(answer)
