"""Accounts: `user create|list|role|ban|unban|delete`, `login`, `logout`, `whoami`."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

from kernelbot.accounts.model import Role
from kernelbot.cli import deletion
from kernelbot.cli.asking import ask
from kernelbot.cli.declaring import Argument, Commands, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.options import Json, Url
from kernelbot.cli.session import connected
from kernelbot.cli.terminal import Terminal, columns
from kernelbot.domain.errors import SlowDown, UserError
from kernelbot.domain.next_steps import Next

if TYPE_CHECKING:
    from kernelbot.accounts.model import Me
    from kernelbot.client import KernelbotClient

_SLOWER_S = 5
"""How much longer to wait between polls after a `slow_down`: RFC 8628, 3.5."""


def register(app: Commands) -> None:
    """Add the commands."""
    users = Commands("Make, list, ban and delete accounts.")
    users.command(
        epilog=examples(
            "kernelbot user create ada",
            "KERNELBOT_TOKEN=$(kernelbot user create ada --json | jq -r .token)",
        )
    )(create)
    users.command("list", epilog=examples("kernelbot user list --search ada"))(list_users)
    users.command(epilog=examples("kernelbot user role ada creator"))(role)
    users.command(epilog=examples('kernelbot user ban mallory --reason "shared a solution"'))(ban)
    users.command(epilog=examples("kernelbot user unban mallory"))(unban)
    deletion.register_users(users)
    app.add(users, "user")
    app.command(
        epilog=examples(
            "kernelbot login http://kernels.lab:8000 --github",
            "kernelbot login http://kernels.lab:8000 --github --invite CODE",
            "kernelbot login http://kernels.lab:8000       # asks for a token and hides it",
        )
    )(login)
    app.command(epilog=examples("kernelbot whoami"))(whoami)
    app.command(epilog=examples("kernelbot logout", "kernelbot logout http://kernels.lab:8000"))(
        logout
    )


def create(
    name: Annotated[str, Argument(help="How the person is shown in rankings.")],
    role: Annotated[Role, Option(help="What the person may do.")] = Role.COMPETITOR,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Create an account; its token is shown only now. For admins."""
    from kernelbot.client.endpoint import url_for_others
    from kernelbot.render.text import one_line

    with connected(url, as_json) as (terminal, client):
        user = client.create_user(name, role)
        terminal.show(f"{one_line(user.name)} can submit now. The token, shown only now:")
        terminal.show(
            f"\n    {user.token}\n\nKeep it: kernelbot login {url_for_others(client.url)} TOKEN"
        )
    terminal.document(user)


def list_users(
    search: Annotated[str | None, Option(help="Part of the name.", show_default=False)] = None,
    limit: Annotated[int, Option(min=1, max=100, help="How many.")] = 50,
    after: Annotated[int, Option(min=0, help="Only accounts after this number.")] = 0,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """List accounts. For admins."""
    from kernelbot.render.table import table
    from kernelbot.render.text import one_line

    with connected(url, as_json) as (terminal, client):
        found = client.users(search=search, limit=limit, after_id=after)
    rows = [
        (
            str(user.id),
            one_line(user.name),
            user.role,
            f"{user.created_at:%Y-%m-%d}",
            "banned" if user.banned_at else "",
        )
        for user in found.users
    ]
    terminal.show(
        table(("id", "name", "role", "since", ""), rows, right=("id",), columns=columns())
    )
    if found.next_after_id is not None:
        terminal.show(f"\nMore with --after {found.next_after_id}")
    terminal.document(found)


def role(
    name: Annotated[str, Argument(help="The account.")],
    role: Annotated[Role, Argument(help="The new role.")],
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Change someone's role. For admins."""
    from kernelbot.render.text import one_line, with_article

    with connected(url, as_json) as (terminal, client):
        user = client.set_role(client.user_named(name).id, role)
    terminal.answer(f"{one_line(user.name)} is {with_article(user.role)} now.", user)


def ban(
    name: Annotated[str, Argument(help="The account.")],
    reason: Annotated[str, Option(help="Why, for the audit log.")] = "",
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Ban someone from submitting and from every ranking. For admins."""
    from kernelbot.render.text import one_line

    with connected(url, as_json) as (terminal, client):
        user = client.ban(client.user_named(name).id, reason)
    terminal.answer(f"{one_line(user.name)} is banned, and ranked nowhere.", user)


def unban(
    name: Annotated[str, Argument(help="The account.")],
    url: Url = None,
    as_json: Json = False,
) -> None:
    """End a ban; what counted before counts again. For admins."""
    from kernelbot.render.text import one_line

    with connected(url, as_json) as (terminal, client):
        user = client.unban(client.user_named(name).id)
    terminal.answer(f"{one_line(user.name)} may submit again.", user)


def login(
    url: Annotated[
        str | None,
        Argument(help="The server, e.g. http://127.0.0.1:8000", show_default=False),
    ] = None,
    token: Annotated[
        str | None,
        Argument(
            help="From the server's web page or its admin. Default: it is asked for, hidden.",
            show_default=False,
        ),
    ] = None,
    github: Annotated[bool, Option("--github", help="With a browser.")] = False,
    discord: Annotated[bool, Option("--discord", help="With a browser.")] = False,
    invite: Annotated[
        str | None, Option(help="For a new account, or for its boards.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Log in to a server, and use it from now on: with a token, or with GitHub or Discord.

    With --github or --discord it shows a code and a page to type it in, on any device.
    """
    from kernelbot.client import KernelbotClient, find_endpoint
    from kernelbot.client.endpoint import normal_url, remember
    from kernelbot.render.text import one_line

    if github and discord:
        raise UserError("--github and --discord can't be used together.", hint="Choose one.")
    if not (token or github or discord):
        token = _ask_for_token()
    if not (token or github or discord):
        raise UserError(
            "A token is missing.", hint="Or log in with a browser: --github or --discord."
        )
    terminal = Terminal(as_json)
    server = find_endpoint(None).url if url is None else normal_url(url)
    if token is None:
        query = {"provider": "github" if github else "discord"}
        token = _from_browser(server, query | ({"invite": invite} if invite else {}), terminal)
    with KernelbotClient(server, token) as client:
        user = _me(client)  # an invalid token isn't kept
        path = remember(server, token)
        if invite:
            joined = client.join(invite).boards
            terminal.show(f"Boards you can use now: {', '.join(map(one_line, joined))}")
    terminal.show(f"You are logged in as {one_line(user.name)} at {server}. Kept in {path}.")
    terminal.document({"url": server, "user": user.name, "role": user.role, "file": str(path)})


def whoami(url: Url = None, as_json: Json = False) -> None:
    """Show the server, the account, and where its token was found."""
    from kernelbot.client import KernelbotClient, find_endpoint
    from kernelbot.render.text import one_line
    from kernelbot.render.time_left import time_left

    terminal = Terminal(as_json)
    endpoint = find_endpoint(url)
    with KernelbotClient.to(endpoint) as client:
        user = _me(client)
    terminal.show(f"You are {one_line(user.name)} ({user.role}) at {endpoint.url}.")
    terminal.show(
        f"Server from {endpoint.url_from or 'the default'}, token from {endpoint.token_from}."
    )
    if user.token_expires_at is not None and not endpoint.has_local_token:  # which is renewed
        left = time_left(user.token_expires_at, datetime.now(UTC))
        terminal.show(f"The token ends in {left}, on {user.token_expires_at:%Y-%m-%d}.")
    terminal.document(
        {
            "url": endpoint.url,
            "url_from": endpoint.url_from,
            "token_from": endpoint.token_from,
            "user": user.name,
            "role": user.role,
            "token_expires_at": user.token_expires_at and user.token_expires_at.isoformat(),
        }
    )


def logout(
    url: Annotated[
        str | None, Argument(help="Default: the server of `whoami`.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Forget a server and its token on this machine. The token itself stays valid."""
    from kernelbot.client import find_endpoint
    from kernelbot.client.endpoint import forget

    terminal = Terminal(as_json)
    server = find_endpoint(url).url
    if not forget(server):
        raise UserError(f"You aren't logged in to {server} here.", hint="See: kernelbot whoami")
    terminal.show(
        f"Logged out of {server}. To revoke the token as well, on a machine that is logged in: "
        "kernelbot token revoke ID"
    )
    terminal.document({"url": server})


def _me(client: KernelbotClient) -> Me:
    """Whose token it is. Raises `UserError` if the address is none of a server's."""
    from kernelbot.client import Refused

    try:
        return client.me()
    except Refused as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
        raise UserError(
            f"{client.url} isn't a KernelBot server's address.",
            hint="It ends after the host and port: without a page's path.",
        ) from None


def _ask_for_token() -> str | None:
    """The token as typed, without showing it; None if stdin isn't a terminal."""
    if not sys.stdin.isatty():
        return None
    return ask("Token", hidden=True).strip()


def _from_browser(server: str, query: dict[str, str], terminal: Terminal) -> str:
    """Wait until somebody has typed the code in a browser. Raises `UserError` when time is up, or
    `Unreachable` if the server isn't there by then: until then it is asked again, as the person may
    be typing all the same."""
    from kernelbot.client import KernelbotClient, Refused, Unreachable

    with KernelbotClient(server) as client:
        begun = client.begin_device_login()
        # Always to stderr, also with --json: without the code nobody can log in.
        print(
            f"Open {begun.verification_url}?{urlencode(query)}\n"
            f"and type the code  {begun.user_code}\n"
            f"(within {begun.expires_in_s // 60} minutes)",
            file=sys.stderr,
        )
        give_up_s = time.monotonic() + begun.expires_in_s
        interval_s = begun.interval_s
        away: Unreachable | None = None
        while time.monotonic() < give_up_s:
            time.sleep(interval_s)
            try:
                found = client.poll_device_login(begun.device_code).login
            except Refused as error:
                if error.code != SlowDown.code:
                    raise
                interval_s += _SLOWER_S
                continue
            except Unreachable as error:
                away = error
                continue
            away = None
            if found is not None:
                terminal.progress("Approved.")
                return found.token
    raise away or UserError("Nobody typed the code in time.", next_step=Next.BEGIN_AGAIN)
