"""What a browser sends for another site's page, and what nobody else is refused for."""

import httpx
import pytest
from starlette.datastructures import Headers
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from kernelbot.environment.origin import Hosts
from tests.environment.wire import Served

ELSEWHERE = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": ""},
    {"Origin": "http://127.0.0.1:1"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
]


def own(server: Served) -> dict[str, str]:
    return {"Origin": server.url, "Sec-Fetch-Site": "same-origin"}


def handshake(server: Served, headers: dict[str, str]) -> int:
    """The status that it is answered with."""
    url = server.url.replace("http", "ws") + "/ws"
    try:
        with connect(url, additional_headers=headers, proxy=None):
            return 101
    except InvalidStatus as error:
        return error.response.status_code


def post(server: Served, headers: dict[str, str]) -> httpx.Response:
    return httpx.post(f"{server.url}/reset", headers=headers, timeout=60, trust_env=False)


@pytest.mark.parametrize("headers", ELSEWHERE)
def test_a_page_of_another_site_is_refused(server: Served, headers: dict[str, str]) -> None:
    answer = post(server, headers)
    assert (403, 403, "not_allowed") == (
        handshake(server, headers),
        answer.status_code,
        answer.json()["code"],
    )


@pytest.mark.parametrize(
    "name", ["evil.example", "127.0.0.1.evil.example", "localhost.evil", "a b"]
)
def test_a_name_that_leads_to_this_machine_is_not_this_server(server: Served, name: str) -> None:
    """As after DNS rebinding: the page's own name is in Host and in Origin."""
    host = f"{name}:{server.url.rpartition(':')[2]}"
    headers = {"Host": host, "Origin": f"http://{host}"}
    seen = httpx.get(f"{server.url}/state", headers={"Host": host}, timeout=60, trust_env=False)
    assert [403] * 3 == [
        handshake(server, headers),
        post(server, headers).status_code,
        seen.status_code,
    ]


def test_addresses_and_localhost_are_this_server(server: Served) -> None:
    port = server.url.rpartition(":")[2]
    hosts = [f"localhost:{port}", f"LOCALHOST.:{port}", f"[::1]:{port}", f"192.0.2.1:{port}"]
    assert [200] * 4 == [post(server, {"Host": host}).status_code for host in hosts]


@pytest.mark.parametrize(
    ("may", "listens_on", "headers"),
    [
        (True, "0.0.0.0", {"host": "kernels.internal:8000"}),  # nothing listens
        (False, "0.0.0.0", {"host": "evil.example", "origin": "http://evil.example"}),
        (True, "0.0.0.0", {"host": "Mine.example", "origin": "http://mine.example"}),
        (True, "::1", {"host": "mine.example:8000"}),
        (False, "::1", {"host": "kernels.internal"}),
        (False, "localhost", {"host": "[::1"}),
        (False, "127.0.0.2", {}),
    ],
)
def test_a_server_for_other_machines_holds_pages_alone_to_its_names(
    may: bool, listens_on: str, headers: dict[str, str]
) -> None:
    hosts = Hosts.for_server(listens_on, ("mine.EXAMPLE",))
    assert may == hosts.may_ask(Headers(headers))


def test_several_origins_must_all_be_its_own(server: Served) -> None:
    both = httpx.Headers([("Origin", server.url), ("Origin", "https://evil.example")])
    answer = httpx.post(f"{server.url}/reset", headers=both, timeout=60, trust_env=False)
    assert 403 == answer.status_code


def test_a_program_and_a_page_of_its_own_are_answered(server: Served) -> None:
    assert [(101, 200)] * 3 == [
        (handshake(server, headers), post(server, headers).status_code)
        for headers in ({}, own(server), {"Sec-Fetch-Site": "none"})
    ]


def test_what_changes_nothing_is_answered(server: Served) -> None:
    found = httpx.get(f"{server.url}/health", headers=ELSEWHERE[0], timeout=60, trust_env=False)
    assert 200 == found.status_code
