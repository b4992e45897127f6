"""`kernelbot open`."""

import httpx

from tests.support.live import LiveServer
from tests.support.terminal import Shell


def test_the_link_is_printed_for_a_browser_elsewhere(ada: Shell, live: LiveServer) -> None:
    said = ada("open", "--no-browser")
    shown = httpx.get(said.out.strip())
    assert (0, True, 200, True) == (
        said.code,
        said.out.startswith(f"{live.url}/auth/open?link="),
        shown.status_code,
        "Log in as <bdi>ada</bdi>?" in shown.text,
    )
    assert "It works once, within 10 minutes." in said.err


def test_the_link_is_a_document_too(ada: Shell, live: LiveServer) -> None:
    said = ada("open", "--json")
    assert (0, 600, True) == (
        said.code,
        said.document["expires_in_s"],
        said.document["url"].startswith(live.url),
    )
