"""`board duels` and `board duel`: what was dueled, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from kernelbot.cli.declaring import Argument, Commands, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.options import BoardName, Json, Url
from kernelbot.cli.session import connected
from kernelbot.cli.terminal import as_document, columns
from kernelbot.domain.errors import NotAllowed, NotAuthenticated

if TYPE_CHECKING:
    from kernelbot.client import KernelbotClient
    from kernelbot.runs.samples.model import PairedWorkload


def register(group: Commands) -> None:
    """Add the commands to `board`."""
    group.command(
        epilog=examples(
            "kernelbot board duels sort_np", "kernelbot board duels sort_np --submission 12"
        )
    )(duels)
    group.command(
        epilog=examples("kernelbot board duel sort_np 7", "kernelbot board duel sort_np 7 --json")
    )(duel)


def duels(
    name: BoardName,
    device: Annotated[
        str | None, Option("--device", "-d", help="Default: all.", show_default=False)
    ] = None,
    submission: Annotated[
        int | None,
        Option("--submission", min=1, help="Only those of this one.", show_default=False),
    ] = None,
    limit: Annotated[int, Option(min=1, max=100, help="How many rows.")] = 50,
    before: Annotated[
        int | None, Option("--before", min=1, help="Only those before this duel's number.")
    ] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Show the duels between submissions whose scores are too close to compare, newest first."""
    from kernelbot.render.duels import duels_table

    with connected(url, as_json, board=name) as (terminal, client):
        found = client.duels(name, device, submission_id=submission, limit=limit, before_id=before)
    terminal.show(duels_table(found.duels, columns()))
    if found.next_before_id is not None:
        terminal.show(f"\nMore with --before {found.next_before_id}")
    terminal.document(found)


def duel(
    name: BoardName,
    duel_id: Annotated[int, Argument(min=1, help="Its number, the first column of `board duels`.")],
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Show one duel by workload: both kernels' medians, and their ratio with its interval.

    By workload it is for those who may see both submissions.
    """
    from kernelbot.render.duels import duel_by_workload

    with connected(url, as_json, board=name) as (terminal, client):
        found = client.duel(name, duel_id)
        workloads = _workloads(client, name, duel_id)
    shown = [load.named for load in workloads]
    terminal.show(duel_by_workload(found, shown, columns()))
    terminal.document(
        {**as_document(found), "workloads": [as_document(load) for load in workloads]}
    )


def _workloads(client: KernelbotClient, name: str, duel_id: int) -> list[PairedWorkload]:
    """Empty if nothing was measured, or it isn't for whoever asks."""
    from kernelbot.client import Refused

    try:
        return client.duel_samples(name, duel_id).workloads
    except Refused as error:
        if error.code not in (NotAllowed.code, NotAuthenticated.code):
            raise
        return []
