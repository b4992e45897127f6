"""A node that fetches its job by a link and tells of it by another, over HTTP."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from kernelbot.harness.host import node_links
from kernelbot.harness.host.node import NoSink
from kernelbot.harness.host.node_links import LinkPayload, LinkSink, link_sink
from kernelbot.protocol import EventKind, Phase, ProgressEvent, WireError

Answer = tuple[int, bytes]
NAME = "KB_LINK"


class Platform:
    """Answers as it is told, and remembers what was sent."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        """What is answered in turn; the last again and again."""
        self.batches: list[tuple[int, list[int]]] = []
        """Of what was taken: which event came first, and the indices of all."""
        self.asked = 0
        self.url = ""

    def answer(self) -> Answer:
        self.asked += 1
        return self.answers[min(self.asked, len(self.answers)) - 1]

    @property
    def told(self) -> list[int]:
        """Each event once, in the order of their numbers."""
        found: dict[int, int] = {}
        for first, indices in self.batches:
            found.update(enumerate(indices, first))
        return [found[number] for number in sorted(found)]


@contextmanager
def serving(platform: Platform) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(*platform.answer())

        def do_POST(self) -> None:
            lines = self.rfile.read(int(self.headers["Content-Length"])).splitlines()
            status, body = platform.answer()
            if status == 200:
                first = int(parse_qs(urlsplit(self.path).query)["first"][0])
                platform.batches.append((first, [json.loads(line)["index"] for line in lines]))
            self._answer(status, body)

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(abs(status))
            self.send_header("Content-Length", str(len(body) + (status < 0)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    platform.url = f"http://127.0.0.1:{server.server_address[1]}/x?signature=secret"
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def platform(monkeypatch: pytest.MonkeyPatch) -> Iterator[Platform]:
    found = Platform()
    monkeypatch.setattr(node_links, "_FIRST_PAUSE_S", 0.01)
    with serving(found):
        yield found


@pytest.fixture
def environment() -> Iterator[None]:
    """Put back at the end: whoever takes a payload wipes it."""
    before = dict(os.environ)
    yield
    os.environ.update(before)


def taken(link: str) -> bytes:
    os.environ[NAME] = link
    return LinkPayload(NAME).take()


@pytest.mark.usefixtures("environment")
def test_a_payload_is_fetched_and_its_link_wiped(platform: Platform) -> None:
    platform.answers = [(200, b"x" * 300_000)]
    assert (taken(platform.url), NAME in os.environ) == (b"x" * 300_000, False)


@pytest.mark.usefixtures("environment")
def test_a_platform_on_this_machine_is_asked_without_a_proxy(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    platform.answers = [(200, b"whole")]
    assert b"whole" == taken(platform.url)


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize(("status", "body"), [(503, b"<html>"), (429, b""), (-200, b"half")])
def test_what_may_go_well_later_is_asked_for_again(
    platform: Platform, status: int, body: bytes
) -> None:
    platform.answers = [(status, body), (status, body), (200, b"whole")]
    assert (taken(platform.url), platform.asked) == (b"whole", 3)


@pytest.mark.usefixtures("environment")
def test_the_platforms_sentence_is_passed_on(platform: Platform) -> None:
    platform.answers = [(410, b'{"detail": "This job isn\'t open any more."}')]
    with pytest.raises(WireError, match=r"^This job isn't open any more\.$"):
        taken(platform.url)
    assert platform.asked == 1


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"detail": 7}', b"\xff"])
def test_without_a_sentence_there_is_the_status(platform: Platform, body: bytes) -> None:
    platform.answers = [(403, body)]
    with pytest.raises(WireError, match="status 403"):
        taken(platform.url)


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize(
    "link", ["", "file:///etc/passwd", "ftp://x/secret", "http://a b/secret", "http://[secret"]
)
def test_a_link_that_is_none_is_told_without_itself(link: str) -> None:
    with pytest.raises(WireError) as caught:
        taken(link)
    assert "secret" not in str(caught.value)


@pytest.mark.usefixtures("environment")
def test_a_platform_that_is_away_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_links, "_DOWNLOAD_S", 0.3)
    with pytest.raises(WireError, match="can't be reached") as caught:
        taken("http://127.0.0.1:1/secret")
    assert "secret" not in str(caught.value)


def case(index: int) -> ProgressEvent:
    return ProgressEvent(EventKind.CASE, phase=Phase.TEST, index=index)


def sink_to(platform: Platform) -> LinkSink:
    os.environ[NAME] = platform.url
    found = link_sink(NAME, 1)
    del os.environ[NAME]
    assert isinstance(found, LinkSink)
    return found


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_progress_arrives_in_order(platform: Platform) -> None:
    platform.answers = [(200, b"{}")]
    sink = sink_to(platform)
    for index in range(5):
        sink.emit(case(index))
    until(lambda: len(platform.told) == 5)
    sink.emit(case(5))
    sink.close()
    assert platform.told == list(range(6))


def test_what_is_left_is_sent_although_the_quiet_thread_has_no_processor(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform.answers = [(200, b"{}")]
    sink, has_one = sink_to(platform), threading.Event()
    monkeypatch.setattr(sink, "_be_quiet", lambda: has_one.wait(60))
    for index in range(3):
        sink.emit(case(index))
    sink.close()
    told = list(platform.told)
    has_one.set()
    sink._thread.join(60)
    assert ([0, 1, 2], [0, 1, 2]) == (told, platform.told)


def test_what_wasnt_taken_is_sent_again(platform: Platform) -> None:
    platform.answers = [(503, b""), (503, b""), (200, b"{}")]
    sink = sink_to(platform)
    for index in range(3):
        sink.emit(case(index))
    until(lambda: len(platform.told) == 3)
    sink.close()
    assert (platform.told, platform.batches[0][0]) == ([0, 1, 2], 0)


def test_a_job_that_is_over_tells_nothing_more(platform: Platform) -> None:
    platform.answers = [(410, b"{}")]
    sink = sink_to(platform)
    sink.emit(case(0))
    until(lambda: platform.asked)
    sink._thread.join(60)
    sink.emit(case(1))
    sink.close()
    assert (platform.asked, sink._thread.is_alive()) == (1, False)


def test_a_platform_that_is_away_holds_nobody_up() -> None:
    away = Platform()
    away.url = "http://127.0.0.1:1/x?"
    sink = sink_to(away)
    for index in range(5000):
        sink.emit(case(index))
    until(lambda: sink._failures)
    sink.close()
    assert len(sink._waiting) == 2000


def test_a_monstrous_event_is_left_out(platform: Platform) -> None:
    platform.answers = [(200, b"{}")]
    sink = sink_to(platform)
    sink.emit(ProgressEvent(EventKind.CASE, index=9, message="x" * (1 << 20)))
    sink.emit(case(0))
    sink.close()
    assert platform.told == [0]


def test_less_is_sent_while_times_are_taken(platform: Platform) -> None:
    platform.answers = [(200, b"{}")]
    sink = sink_to(platform)
    sink.emit(ProgressEvent(EventKind.PHASE_STARTED, phase=Phase.TEST, index=0))
    testing_s = sink._pause_s()
    sink.emit(ProgressEvent(EventKind.PHASE_STARTED, phase=Phase.BENCHMARK, index=1))
    sink.emit(ProgressEvent(EventKind.WORKLOAD, phase=Phase.BENCHMARK, index=2))
    measuring_s = sink._pause_s()
    sink.emit(ProgressEvent(EventKind.PHASE_FINISHED, phase=Phase.BENCHMARK, index=3))
    afterwards_s = sink._pause_s()
    sink.close()
    assert (testing_s, measuring_s, afterwards_s) == (0.2, 2.0, 0.2)


def test_nobody_listens_without_a_link() -> None:
    assert isinstance(link_sink("NO_SUCH_VARIABLE", 1), NoSink)
