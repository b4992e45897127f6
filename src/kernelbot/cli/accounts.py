"""Accounts: `user create`, `login`."""

from typing import Annotated

import typer

from kernelbot.cli.examples import examples
from kernelbot.cli.options import Json, Url
from kernelbot.cli.session import connect
from kernelbot.cli.terminal import Terminal
from kernelbot.domain.types import Role


def register(app: typer.Typer) -> None:
    """Add the commands."""
    users = typer.Typer(no_args_is_help=True, help="Accounts.")
    users.command(
        epilog=examples(
            "kernelbot user create ada",
            "KERNELBOT_TOKEN=$(kernelbot user create ada --json | jq -r .token)",
        )
    )(create)
    app.add_typer(users, name="user")
    app.command(epilog=examples("kernelbot login http://kernels.lab:8000 TOKEN"))(login)


def create(
    name: Annotated[str, typer.Argument(help="How the person is shown in rankings.")],
    role: Annotated[Role, typer.Option(help="What the person may do.")] = Role.COMPETITOR,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Make an account; its token is printed this once. For admins."""
    from kernelbot.render.text import one_line

    terminal = Terminal(as_json)
    with connect(url) as client:
        user = client.create_user(name, role)
        terminal.show(f"{one_line(user.name)} can submit now. The token, shown this once:")
        terminal.show(f"\n    {user.token}\n\nKeep it: kernelbot login {client.url} TOKEN")
    terminal.document(user)


def login(
    url: Annotated[str, typer.Argument(help="The server, e.g. http://127.0.0.1:8000")],
    token: Annotated[str, typer.Argument(help="From `kernelbot user create`.")],
    as_json: Json = False,
) -> None:
    """Keep a token for a server, and use that server from now on."""
    from kernelbot.client import KernelbotClient
    from kernelbot.client.endpoint import normal_url, remember
    from kernelbot.render.text import one_line

    terminal = Terminal(as_json)
    server = normal_url(url)
    with KernelbotClient(server, token) as client:
        user = client.me()  # a token that isn't good is not kept
    path = remember(server, token)
    terminal.show(f"You are {one_line(user.name)} at {server}. Kept in {path}.")
    terminal.document({"url": server, "user": user.name, "role": user.role, "file": str(path)})
