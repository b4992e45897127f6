"""Your own tokens and browsers: `token list|create|revoke`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from kernelbot.cli.declaring import Argument, Commands, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.options import Json, Url
from kernelbot.cli.session import connect, connected
from kernelbot.cli.terminal import Terminal, columns


def register(app: Commands) -> None:
    """Add the commands."""
    group = Commands("List, create and revoke your own tokens.")
    group.command("list", epilog=examples("kernelbot token list"))(list_tokens)
    group.command(
        epilog=examples("kernelbot token create laptop", "kernelbot token create ci --days 90")
    )(create)
    group.command(epilog=examples("kernelbot token revoke 3"))(revoke)
    app.add(group, "token")


def list_tokens(url: Url = None, as_json: Json = False) -> None:
    """List your tokens and the browsers that are logged in; each ends with what it was made
    with."""
    from kernelbot.render.table import table
    from kernelbot.render.text import one_line

    with connected(url, as_json) as (terminal, client):
        found = client.tokens()
    rows = [
        (
            str(token.id),
            token.kind,
            one_line(token.name),
            _day(token.created_at),
            _expiry(token.expires_at),
            str(token.parent_id or ""),
        )
        for token in found.tokens
    ]
    head = ("id", "kind", "name", "since", "expires", "made with")
    terminal.answer(table(head, rows, right=("id", "made with"), columns=columns()), found)


def create(
    name: Annotated[str, Argument(help="What it is for, to know it by later.")],
    days: Annotated[
        int | None,
        Option(min=1, max=3650, help="Days until it expires. Default: never by itself."),
    ] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Create a token; it is shown only now. It ends with the token that made it."""
    from kernelbot.client.endpoint import url_for_others
    from kernelbot.render.text import one_line

    terminal = Terminal(as_json)
    expires_at = None if days is None else datetime.now(UTC) + timedelta(days=days)
    with connect(url, terminal) as client:
        token = client.create_token(name, expires_at=expires_at)
        terminal.show(f"Token {one_line(token.name)}, shown only now:\n\n    {token.token}\n")
        terminal.show(f"Keep it: kernelbot login {url_for_others(client.url)} TOKEN")
        if token.parent_id is not None:
            terminal.show(f"It ends with the token that made it, {token.parent_id}.")
    terminal.document(token)


def revoke(
    number: Annotated[int, Argument(min=1, metavar="ID", help="From `token list`.")],
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Revoke a token, or end a browser's session: from now on it is invalid, with all that was
    made with it."""
    from kernelbot.render.text import one_line

    with connected(url, as_json) as (terminal, client):
        token = client.revoke_token(number)
    terminal.answer(f"Token {one_line(token.name)} is revoked.", token)


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"


def _expiry(at: datetime | None) -> str:
    if at is None:
        return "never"
    now = datetime.now(UTC)
    if at <= now:
        return f"expired {_day(at)}"
    from kernelbot.render.time_left import ends_soon, time_left

    return f"{_day(at)}, in {time_left(at, now)}" if ends_soon(at, now) else _day(at)
