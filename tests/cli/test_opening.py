"""`kernelbot open`."""

import httpx
import pytest

from kernelbot.cli.opening import expect_web_address
from kernelbot.client.errors import BadAnswer
from tests.support.live import LiveServer
from tests.support.terminal import Shell


@pytest.mark.exhaustive  # each run has test_the_link_is_a_document_too
def test_the_link_is_printed_for_a_browser_elsewhere(ada: Shell, live: LiveServer) -> None:
    said = ada("open", "--no-browser")
    shown = httpx.get(said.out.strip(), timeout=60)
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


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "steam://run", "--new-window", "javascript:x", ""]
)
def test_nothing_but_a_page_is_opened(url: str) -> None:
    with pytest.raises(BadAnswer):
        expect_web_address(url)


@pytest.mark.parametrize("url", ["https://example.org/a", "HTTP://127.0.0.1:8000/auth/open"])
def test_a_page_s_address_is_taken(url: str) -> None:
    expect_web_address(url)
