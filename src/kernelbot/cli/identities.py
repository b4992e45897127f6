"""The identities that you log in with: `identity list|unlink`."""

from __future__ import annotations

from typing import Annotated

from kernelbot.accounts.logins.model import Identity
from kernelbot.cli.declaring import Argument, Commands
from kernelbot.cli.examples import examples
from kernelbot.cli.options import Json, Url
from kernelbot.cli.session import connected
from kernelbot.domain.errors import UserError
from kernelbot.domain.next_steps import Next


def register(app: Commands) -> None:
    """Add the commands."""
    group = Commands("List and unlink what you log in with.")
    group.command("list", epilog=examples("kernelbot identity list"))(list_identities)
    group.command(
        epilog=examples("kernelbot identity unlink github", "kernelbot identity unlink github:42")
    )(unlink)
    app.add(group, "identity")


def list_identities(url: Url = None, as_json: Json = False) -> None:
    """List your GitHub and Discord identities. To link more, use the server's account page."""
    from kernelbot.render.table import table
    from kernelbot.render.text import one_line

    with connected(url, as_json) as (terminal, client):
        found = client.identities()
    rows = [
        (one_line(_name(identity)), f"{identity.created_at:%Y-%m-%d}")
        for identity in found.identities
    ]
    none = "Your account has no linked identities: you log in with tokens only."
    terminal.answer(table(("identity", "since"), rows) if rows else none, found)


def unlink(
    identity: Annotated[str, Argument(help="From `identity list`, or its provider alone.")],
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Unlink an identity: logging in with it then no longer opens your account."""
    from kernelbot.render.text import one_line

    with connected(url, as_json) as (terminal, client):
        chosen = _chosen(identity, client.identities().identities)
        client.unlink(chosen.provider, chosen.subject)
    terminal.answer(f"{one_line(_name(chosen))} is no longer linked to your account.", chosen)


def _chosen(wanted: str, found: list[Identity]) -> Identity:
    """The identity meant. Raises `UserError` if there is none or several fit."""
    meant = [one for one in found if wanted in (one.provider, _name(one))]
    if len(meant) != 1:
        raise UserError(
            f"You have {len(meant) or 'no'} identities named {wanted!r}.",
            next_step=Next.LIST_IDENTITIES,
        )
    return meant[0]


def _name(identity: Identity) -> str:
    return f"{identity.provider}:{identity.subject}"
