"""Against a server that speaks just enough of the protocol, on a real socket."""

import json
import ssl
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

import httpx
import pytest

from kernelbot.client import AsyncKernelbotClient, BadAnswer, KernelbotClient, Refused, Unreachable
from kernelbot.client.over_httpx import trusted
from kernelbot.domain.next_steps import Next
from kernelbot.protocol import Fault
from tests.client.spoken import END, Handle, answer, event


def test_events_resume_where_the_connection_broke(serve: Callable[[Handle], str]) -> None:
    asked: list[str | None] = []

    def handle(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.headers["Last-Event-ID"])
        handler.send_response(200)
        handler.end_headers()
        first = event(1) + event(2) + event(3)[:-10]  # breaks in the middle of the third
        handler.wfile.write(first if len(asked) == 1 else event(2) + event(3) + END)

    with KernelbotClient(serve(handle)) as client:
        ids = [found.id for found in client.events(7)]
    assert ([1, 2, 3], ["0", "2"]) == (ids, asked)


def test_the_place_in_the_queue_is_heard_apart_from_the_events(
    serve: Callable[[Handle], str],
) -> None:
    body = event(1) + b'event: queue\ndata: {"position": 3}\n\nevent: new\ndata: ?\n\n' + END
    places: list[int] = []
    with KernelbotClient(serve(lambda handler: answer(handler, 200, body))) as client:
        events = list(client.events(7, on_queue=lambda place: places.append(place.position)))
    assert ([1], [3]) == ([found.id for found in events], places)


def test_events_survive_a_server_that_is_being_restarted(serve: Callable[[Handle], str]) -> None:
    asked = []

    def handle(handler: BaseHTTPRequestHandler) -> None:
        asked.append(1)
        if len(asked) == 1:
            answer(handler, 503, b'{"detail": "Later.", "code": "unavailable"}')
        else:
            answer(handler, 200, event(1) + END)

    with KernelbotClient(serve(handle)) as client:
        assert [1] == [found.id for found in client.events(7)]


def test_a_server_that_is_away_is_told_once_each_time(serve: Callable[[Handle], str]) -> None:
    away = b'{"detail": "Later.", "code": "unavailable"}'
    answers = [(503, away)] * 3 + [(200, event(1))] + [(503, away)] * 2 + [(200, event(2) + END)]
    told = list[str]()
    with KernelbotClient(serve(lambda handler: answer(handler, *answers.pop(0)))) as client:
        seen = [
            (found.id, len(told))
            for found in client.events(7, on_broken=lambda error: told.append(str(error)))
        ]
    assert ([(1, 1), (2, 2)], ["Later."] * 2) == (seen, told)


def test_events_of_nothing_are_refused_at_once(serve: Callable[[Handle], str]) -> None:
    body = b'{"detail": "No submission 7.", "code": "not_found"}'
    with (
        KernelbotClient(serve(lambda handler: answer(handler, 404, body))) as client,
        pytest.raises(Refused, match=r"No submission 7\."),
    ):
        next(client.events(7))


def test_nobody_there() -> None:
    with KernelbotClient("http://127.0.0.1:1") as client, pytest.raises(Unreachable, match="127"):
        client.boards()


def test_events_of_a_server_that_stays_away() -> None:
    with KernelbotClient("http://127.0.0.1:1") as client, pytest.raises(Unreachable):
        next(client.events(7, patience_s=0.0))


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (404, b'{"detail": "No.", "code": "not_found"}', ("not_found", "No.", Fault.AUTHOR)),
        (503, b'{"detail": "No.", "code": "unavailable"}', ("unavailable", "No.", Fault.PLATFORM)),
        (
            502,
            b'{"detail": "N", "code": "scheduler_error"}',
            ("scheduler_error", "N", Fault.SCHEDULER),
        ),
        (502, b"<html>", ("bad_answer", "The server answered 502 Bad Gateway.", Fault.PLATFORM)),
        (
            422,
            b'{"detail": [1]}',
            ("bad_answer", "The server answered 422", Fault.AUTHOR),
        ),
    ],
)
def test_an_error_keeps_its_word_its_sentence_and_its_fault(
    serve: Callable[[Handle], str], status: int, body: bytes, expected: tuple[str, str, Fault]
) -> None:
    with (
        KernelbotClient(serve(lambda handler: answer(handler, status, body))) as client,
        pytest.raises(Refused) as caught,
    ):
        client.boards()
    code, sentence, fault = expected
    assert (code, True, fault) == (
        caught.value.code,
        str(caught.value).startswith(sentence),
        caught.value.fault,
    )


FULL = {"detail": "No. See x.", "code": "not_found", "message": "No.", "hint": "See x."}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (FULL | {"next": "list_boards"}, ("No.", Next.LIST_BOARDS, "See x.")),
        (FULL | {"next": None}, ("No.", None, "See x.")),
        (FULL | {"next": "of_a_newer_release"}, ("No.", None, "See x.")),
        ({"detail": "No. See x.", "code": "not_found"}, ("No. See x.", None, "")),
    ],
)
def test_an_error_says_what_to_do_next_as_far_as_the_server_and_we_know(
    serve: Callable[[Handle], str], body: dict[str, str], expected: tuple[str, Next | None, str]
) -> None:
    sent = json.dumps(body).encode()
    with (
        KernelbotClient(serve(lambda handler: answer(handler, 404, sent))) as client,
        pytest.raises(Refused) as caught,
    ):
        client.boards()
    assert expected == (str(caught.value), caught.value.next_step, caught.value.hint)


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"boards": 3}', b"\xff"])
def test_an_answer_of_another_kind_of_server(serve: Callable[[Handle], str], body: bytes) -> None:
    with (
        KernelbotClient(serve(lambda handler: answer(handler, 200, body))) as client,
        pytest.raises(BadAnswer, match="BoardList"),
    ):
        client.boards()


def test_an_answer_that_is_not_packed_as_it_says() -> None:
    def wrong(_: httpx.Request) -> httpx.Response:
        return httpx.Response(
            200, headers={"Content-Encoding": "gzip"}, stream=httpx.ByteStream(b"not that")
        )

    with KernelbotClient("http://x", transport=httpx.MockTransport(wrong)) as client:
        with pytest.raises(BadAnswer, match="can't be unpacked"):
            client.boards()
        with pytest.raises(BadAnswer, match="can't be unpacked"):
            next(client.events(7, patience_s=0.0))


@pytest.mark.parametrize("client", [KernelbotClient, AsyncKernelbotClient])
def test_what_is_no_url(client: type[KernelbotClient | AsyncKernelbotClient]) -> None:
    with pytest.raises(Unreachable, match="is not a URL that can be asked"):
        client("http://[::1")


def test_a_hostile_board_name_stays_in_its_path(serve: Callable[[Handle], str]) -> None:
    asked: list[str] = []

    def handle(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        answer(handler, 404, b'{"detail": "No.", "code": "not_found"}')

    with KernelbotClient(serve(handle)) as client, pytest.raises(Refused):
        client.board("../a'; echo x?\n#")
    assert ["/api/v1/boards/..%2Fa%27%3B%20echo%20x%3F%0A%23"] == asked


def test_a_server_without_encryption_needs_no_authorities_and_believes_none() -> None:
    plain, encrypted = trusted("http://127.0.0.1:1"), trusted("https://kernels.lab")
    assert isinstance(plain, ssl.SSLContext)
    assert ([], ssl.CERT_REQUIRED, True) == (
        plain.get_ca_certs(),
        plain.verify_mode,
        plain.check_hostname,
    )
    assert encrypted is True
