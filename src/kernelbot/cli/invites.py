"""Invites to closed boards: `invite create|list|revoke`, `join`."""

from __future__ import annotations

from typing import Annotated

from kernelbot.cli.declaring import Argument, Commands, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.options import BoardName, Json, Url
from kernelbot.cli.session import connected


def register(app: Commands) -> None:
    """Add the commands."""
    group = Commands("Create, list and revoke invites.")
    group.command(
        epilog=examples(
            "kernelbot invite create autumn-sort autumn-scan",
            "kernelbot invite create autumn-sort --count 500 > codes.txt",
        )
    )(create)
    group.command("list", epilog=examples("kernelbot invite list autumn-sort --unclaimed"))(
        list_invites
    )
    group.command(epilog=examples("kernelbot invite revoke ABCDE-FGHJK-MNPQR-STVWX"))(revoke)
    app.add(group, "invite")
    app.command(epilog=examples("kernelbot join ABCDE-FGHJK-MNPQR-STVWX"))(join)


def create(
    boards: Annotated[list[str], Argument(help="Every invite opens all of them.")],
    count: Annotated[int, Option("--count", "-n", min=1, max=10_000, help="How many.")] = 1,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Create invites, one code per line. For the boards' organisers."""
    with connected(url, as_json) as (terminal, client):
        made = client.create_invites(boards, count)
    terminal.progress(f"Each opens {', '.join(made.boards)} to one person: kernelbot join CODE")
    terminal.answer("\n".join(made.codes), made)


def list_invites(
    board: BoardName,
    unclaimed: Annotated[
        bool, Option("--unclaimed", help="Only those that nobody has used.")
    ] = False,
    limit: Annotated[int, Option(min=1, max=10_000, help="How many.")] = 1000,
    offset: Annotated[int, Option(min=0, help="How many to skip.")] = 0,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """List a board's invites and who used them. For its organisers."""
    from kernelbot.render.table import table
    from kernelbot.render.text import one_line

    with connected(url, as_json) as (terminal, client):
        found = client.invites(board, unclaimed=unclaimed, limit=limit, offset=offset)
    rows = [
        (
            invite.code or "(opens boards of others too)",
            ", ".join(invite.boards),
            one_line(invite.claimed_by or ""),
            f"{invite.claimed_at:%Y-%m-%d %H:%M}" if invite.claimed_at else "",
        )
        for invite in found.invites
    ]
    none = f"There are none. Create some: kernelbot invite create {board}"
    terminal.answer(table(("code", "boards", "used by", "at"), rows) if rows else none, found)


def revoke(
    code: Annotated[str, Argument(help="The invite.")], url: Url = None, as_json: Json = False
) -> None:
    """Revoke an invite, and the membership that it gave. For the boards' organisers."""
    with connected(url, as_json) as (terminal, client):
        gone = client.revoke_invite(code)
    used = "Its user is no longer a member." if gone.was_claimed else "Nobody had used it."
    terminal.answer(f"The invite is revoked. {used}", gone)


def join(
    code: Annotated[str, Argument(help="From the organisers.")],
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Use an invite: its boards are open to you from now on."""
    with connected(url, as_json) as (terminal, client):
        joined = client.join(code)
    terminal.answer(f"Boards you can use now: {', '.join(joined.boards)}", joined)
