"""`open`: the server's pages in a browser that is logged in."""

from __future__ import annotations

import webbrowser
from typing import Annotated

from kernelbot.cli.declaring import Commands, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.options import Json, Url
from kernelbot.cli.session import connected


def register(app: Commands) -> None:
    """Add the command."""
    app.command("open", epilog=examples("kernelbot open", "kernelbot open --no-browser"))(
        open_pages
    )


def open_pages(
    no_browser: Annotated[
        bool, Option("--no-browser", help="Print the link, and open nothing.")
    ] = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Log a browser in as the account of this terminal, by a link that works once."""
    with connected(url, as_json) as (terminal, client):
        link = client.make_login_link()
    expect_web_address(link.url)
    opened = not (no_browser or as_json) and webbrowser.open(link.url)
    if opened:
        terminal.show("The browser shows the page that logs it in. If it doesn't:")
    terminal.show(link.url)
    terminal.progress(f"It works once, within {link.expires_in_s // 60} minutes.")
    terminal.document(link)


def expect_web_address(url: str) -> None:
    """Raises `BadAnswer` for what a browser wouldn't open as a page, such as a file or another
    program's address: the server says what is opened here."""
    from kernelbot.client import BadAnswer

    if not url.lower().startswith(("https://", "http://")):
        raise BadAnswer(f"The server's link isn't the address of a page: {url[:100]!r}.")
