"""`board rejudge`: measuring the best again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

from kernelbot.cli.declaring import Commands, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.options import BoardName, Json, Url
from kernelbot.cli.session import connected
from kernelbot.cli.terminal import Terminal, columns

if TYPE_CHECKING:
    from kernelbot.client import KernelbotClient
    from kernelbot.moderation.rejudges.model import Rejudge

_POLL_S = 0.5


def register(group: Commands) -> None:
    """Add the command to `board`."""
    group.command(
        epilog=examples(
            "kernelbot board rejudge sort_np --top 10",
            "kernelbot board rejudge sort_np --device H100 --no-wait",
            "kernelbot board rejudge sort_np --end 3",
        )
    )(rejudge)


def rejudge(
    name: BoardName,
    top: Annotated[
        int | None, Option("--top", min=1, help="How many. Default: all.", show_default=False)
    ] = None,
    device: Annotated[
        str | None,
        Option("--device", "-d", help="Default: the board's first.", show_default=False),
    ] = None,
    no_wait: Annotated[bool, Option("--no-wait", help="Don't wait for the end.")] = False,
    end: Annotated[
        int | None,
        Option("--end", metavar="N", min=1, help="End rejudge N instead.", show_default=False),
    ] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Measure the best again on one device, and rank by that. For organisers.

    Ctrl-C ends this command, not the judging.
    """
    with connected(url, as_json, board=name) as (terminal, client):
        if end is not None:
            terminal.document(client.end_rejudge(name, end))
            terminal.show(f"Rejudge {end} has ended. The ranking is as it was.")
            return
        found = client.rejudge(name, device, top)
        terminal.progress(
            f"Rejudge {found.id}: rejudging {len(found.runs)} of {found.board} on {found.device}."
        )
        if not no_wait:
            found = _wait(client, found, terminal)
            _tell_of_duels(client, found, terminal)
    terminal.answer(_table(found), found)


def _wait(client: KernelbotClient, found: Rejudge, terminal: Terminal) -> Rejudge:
    done = 0
    while found.finished_at is None:
        time.sleep(_POLL_S)
        found = client.rejudge_of(found.board, found.id)
        ended = sum(run.verdict is not None for run in found.runs)
        if ended > done:
            done = ended
            terminal.progress(f"{done} of {len(found.runs)} measured")
    return found


def _tell_of_duels(client: KernelbotClient, found: Rejudge, terminal: Terminal) -> None:
    from kernelbot.duels.model import DuelState
    from kernelbot.render.text import counted

    duels = client.duels(found.board, found.device, limit=100).duels
    waiting = sum(duel.state is DuelState.WAITING for duel in duels)
    if waiting:
        more = f"see: kernelbot board duels {found.board}"
        terminal.progress(f"{counted(waiting, 'duel')} may still change who shares a rank; {more}")


def _table(found: Rejudge) -> str:
    from kernelbot.render.table import table
    from kernelbot.render.text import one_line
    from kernelbot.render.units import seconds_text

    rows = [
        (
            str(run.submission_id),
            one_line(run.author),
            seconds_text(run.before_s),
            seconds_text(run.after_s) if run.after_s else "",
            run.verdict.words if run.verdict else "waits",
        )
        for run in found.runs
    ]
    headers = ("submission", "author", "before", "after", "verdict")
    return table(headers, rows, right=("submission", "before", "after"), columns=columns())
