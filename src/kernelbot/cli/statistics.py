"""How much was submitted and judged: `stats`."""

from __future__ import annotations

from typing import Annotated

from kernelbot.cli.declaring import Commands, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.options import Json, Url
from kernelbot.cli.session import connected
from kernelbot.cli.terminal import columns


def register(app: Commands) -> None:
    """Add the command."""
    app.command(epilog=examples("kernelbot stats", "kernelbot stats --board autumn --last-day"))(
        stats
    )


def stats(
    board: Annotated[
        str | None, Option("--board", "-b", help="Only of this one.", show_default=False)
    ] = None,
    last_day: Annotated[bool, Option("--last-day", help="Only of the last 24 hours.")] = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Show how much was submitted, how it ended, and how long people waited. For organisers."""
    from kernelbot.render.table import table
    from kernelbot.render.text import counted
    from kernelbot.render.units import seconds_text

    with connected(url, as_json) as (terminal, client):
        found = client.organise.statistics(board, last_day=last_day)
    when = "in the last 24 hours" if found.last_day else "so far"
    terminal.show(
        f"{counted(found.submissions, 'submission')} by {counted(found.authors, 'author')} to "
        f"{counted(found.boards, 'board')} "
        f"{when}; {found.passes} of {found.runs} runs passed.\n"
    )

    def time_text(time_s: float | None) -> str:
        return seconds_text(time_s) if time_s else ""

    rows = [
        (
            one.device,
            str(one.runs),
            str(one.passes),
            str(one.failures),
            str(one.errors),
            str(one.waiting),
            str(one.running),
            time_text(one.wait_median_s),
            time_text(one.wait_longest_s),
            time_text(one.run_median_s),
        )
        for one in found.devices
    ]
    headers = (
        "device",
        "runs",
        "passed",
        "refused",
        "our errors",
        "waiting",
        "running",
        "median wait",
        "longest",
        "median run",
    )
    terminal.show(
        table(headers, rows, right=headers[1:], columns=columns())
        if rows
        else "Nothing was judged yet."
    )
    terminal.document(found)
