"""`board duels`: what was dueled, and what came of it."""

from typing import Annotated

import typer

from kernelbot.cli.examples import examples
from kernelbot.cli.options import Json, Url
from kernelbot.cli.session import connect
from kernelbot.cli.terminal import Terminal, columns


def register(group: typer.Typer) -> None:
    """Add the command to `board`."""
    group.command(
        epilog=examples(
            "kernelbot board duels sort_np", "kernelbot board duels sort_np --submission 12"
        )
    )(duels)


def duels(
    name: Annotated[str, typer.Argument(help="The board.")],
    device: Annotated[
        str | None, typer.Option("--device", "-d", help="Default: all.", show_default=False)
    ] = None,
    submission: Annotated[
        int | None,
        typer.Option("--submission", min=1, help="Only those of this one.", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many rows.")] = 50,
    before: Annotated[
        int | None, typer.Option("--before", min=1, help="Only those before this duel's number.")
    ] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Show the duels between submissions whose scores are too close to compare, newest first."""
    from kernelbot.domain.duels import Duel
    from kernelbot.render.duels import duels_table

    terminal = Terminal(as_json)
    with connect(url, terminal, board=name) as client:
        found = client.duels(name, device, submission_id=submission, limit=limit, before_id=before)
    terminal.show(duels_table([view.to(Duel) for view in found.duels], columns()))
    if found.next_before_id is not None:
        terminal.show(f"\nMore with --before {found.next_before_id}")
    terminal.document(found)
