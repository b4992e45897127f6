"""For organisers: `pause`, `resume`, `audit`, `board edit`, `board limit`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

from kernelbot.boards.limits.model import MAX_PER_HOUR, LimitCategory
from kernelbot.boards.model import Visibility
from kernelbot.cli.declaring import Argument, Commands, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.options import BoardName, Json, Url, read_deadline
from kernelbot.cli.session import connect, connected
from kernelbot.cli.terminal import Terminal, columns
from kernelbot.domain.errors import UserError

if TYPE_CHECKING:
    from kernelbot.boards.model import NamedBoard


def register(app: Commands) -> None:
    """Add the commands."""
    app.command(epilog=examples('kernelbot pause "The cluster moves; back at noon"'))(pause)
    app.command(epilog=examples("kernelbot resume"))(resume)
    app.command(
        epilog=examples(
            "kernelbot audit",
            "kernelbot audit --action user",
            "kernelbot audit --subject board:autumn",
        )
    )(audit)


def register_boards(boards: Commands) -> None:
    """Add the commands under `board`."""
    boards.command(
        epilog=examples(
            'kernelbot board edit autumn --deadline "2027-01-31 12:00"',
            "kernelbot board edit autumn --deadline none --visibility closed",
        )
    )(edit)
    boards.command(
        epilog=examples(
            "kernelbot board limit autumn",
            "kernelbot board limit autumn --ranked 10 --test 60",
            "kernelbot board limit autumn --ranked 0      # none for now",
            "kernelbot board limit autumn --ranked none   # no limit any more",
        )
    )(limit)


def pause(
    reason: Annotated[str, Argument(help="Shown to everyone who tries to submit.")] = "",
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Accept no more submissions; those accepted before are judged. For admins."""
    with connected(url, as_json) as (terminal, client):
        state = client.pause(reason)
    terminal.answer("No submissions are accepted until: kernelbot resume", state)


def resume(url: Url = None, as_json: Json = False) -> None:
    """Accept submissions again. For admins."""
    with connected(url, as_json) as (terminal, client):
        state = client.resume()
    terminal.answer("Submissions are accepted again.", state)


def audit(
    subject: Annotated[
        str | None, Option(help="E.g. board:autumn, user:12.", show_default=False)
    ] = None,
    actor: Annotated[str | None, Option(help="Who did it.", show_default=False)] = None,
    action: Annotated[
        str | None, Option(help="E.g. user.ban; user: all user.*", show_default=False)
    ] = None,
    limit: Annotated[int, Option(min=1, max=100, help="How many.")] = 50,
    before: Annotated[
        int | None, Option(min=1, help="Only entries before this number.", show_default=False)
    ] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Show what organisers did, the newest first. For admins."""
    from kernelbot.render.table import table
    from kernelbot.render.text import one_line

    with connected(url, as_json) as (terminal, client):
        page = client.audit(
            subject=subject, actor=actor, action=action, limit=limit, before_id=before
        )
    rows = [
        (
            str(entry.id),
            f"{entry.created_at:%Y-%m-%d %H:%M:%S}",
            one_line(entry.actor),
            entry.action,
            one_line(entry.subject),
            one_line(json.dumps(entry.detail, ensure_ascii=False)),
        )
        for entry in page.entries
    ]
    terminal.show(
        table(
            ("id", "at (UTC)", "who", "did", "to", "detail"), rows, right=("id",), columns=columns()
        )
    )
    if page.next_before_id is not None:
        terminal.show(f"\nMore with --before {page.next_before_id}")
    terminal.document(page)


def edit(
    name: BoardName,
    deadline: Annotated[
        str | None, Option(help="E.g. 2027-01-31 12:00, in UTC, or none.", show_default=False)
    ] = None,
    visibility: Annotated[
        Visibility | None, Option(help="Who sees it.", show_default=False)
    ] = None,
    reveal_code: Annotated[
        bool | None,
        Option("--reveal-code/--hide-code", help="Whether all may read code after the deadline."),
    ] = None,
    fixed_seed: Annotated[
        bool | None,
        Option("--fixed-seed/--fresh-seeds", help="Whether all secret runs share one seed."),
    ] = None,
    refuse_unavailable: Annotated[
        bool | None,
        Option(
            "--refuse-unavailable/--let-wait",
            help="Submissions for a device that takes no jobs: refuse them, or let them wait.",
        ),
    ] = None,
    try_on_cpu: Annotated[
        bool | None,
        Option(
            "--try-on-cpu/--no-try-on-cpu",
            help="Whether a board for GPUs takes `--mode test` on a processor as well.",
        ),
    ] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Change a board's deadline or who sees it. For its organisers."""
    terminal = Terminal(as_json)
    until = None if deadline is None else read_deadline(deadline)
    with connect(url, terminal, board=name) as client:
        before = client.board(name)
        if deadline is not None:
            client.set_deadline(name, until)
        if visibility is not None:
            client.set_visibility(name, visibility)
        if reveal_code is not None:
            client.organise.reveal_code(name, reveal_code)
        if fixed_seed is not None:
            client.organise.fix_seed(name, fixed_seed)
        if refuse_unavailable is not None:
            client.organise.refuse_unavailable(name, refuse_unavailable)
        if try_on_cpu is not None:
            client.organise.try_on_cpu(name, try_on_cpu)
        board = client.board(name)
    changed = _changes(before, board)
    terminal.answer("\n".join(changed) if changed else f"{board.name}: nothing has changed.", board)


def _changes(before: NamedBoard, after: NamedBoard) -> list[str]:
    """A line for each thing that differs."""
    fields = (
        ("deadline", _deadline(before), _deadline(after)),
        ("visibility", before.visibility, after.visibility),
        ("code after the deadline", _code(before), _code(after)),
        ("secret runs", _seeds(before), _seeds(after)),
        ("while a device takes no jobs", _unavailable(before), _unavailable(after)),
        ("tests on a processor", _tries(before), _tries(after)),
    )
    return [f"{after.name}: {what}: {was} -> {now}" for what, was, now in fields if was != now]


def _deadline(board: NamedBoard) -> str:
    return f"{board.deadline:%Y-%m-%d %H:%M} UTC" if board.deadline else "none"


def _seeds(board: NamedBoard) -> str:
    return "one seed for all" if board.fixed_seed else "a seed each"


def _unavailable(board: NamedBoard) -> str:
    return "submissions are refused" if board.refuse_unavailable else "submissions wait"


def _tries(board: NamedBoard) -> str:
    return "taken as well" if board.try_on_cpu else "only if it is one of its devices"


def _code(board: NamedBoard) -> str:
    return "shown to all" if board.reveal_code else "hidden"


def limit(
    name: BoardName,
    ranked: Annotated[
        str | None,
        Option(
            help="Ranked submissions an hour; 0: none are accepted; none: no limit.",
            show_default=False,
        ),
    ] = None,
    test: Annotated[
        str | None, Option(help="All other submissions an hour.", show_default=False)
    ] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Show or set how many submissions each author may make within an hour."""
    terminal = Terminal(as_json)
    wanted = {LimitCategory.LEADERBOARD: ranked, LimitCategory.TEST: test}
    numbers = {category: _number(text) for category, text in wanted.items() if text is not None}
    with connect(url, terminal, board=name) as client:
        there = {found.category for found in client.limits(name).limits}
        for category, number in numbers.items():
            if number is not None:
                client.set_limit(name, category, number)
            elif category in there:
                client.remove_limit(name, category)
        found = client.limits(name)
    limits = {one.category: one.max_per_hour for one in found.limits}
    for category in LimitCategory:
        terminal.show(f"{category}: {_in_words(limits.get(category))}")
    terminal.document(found)


def _in_words(max_per_hour: int | None) -> str:
    if max_per_hour is None:
        return "any number"
    return f"{max_per_hour} an hour" if max_per_hour else "not accepted for now"


def _number(text: str) -> int | None:
    """Raises `UserError`, before anything is sent: else one limit would be set and another not."""
    from kernelbot.render.text import cut

    if text == "none":
        return None
    digits = text.lstrip("0") or "0"
    is_number = text.isascii() and text.isdigit() and len(digits) <= len(str(MAX_PER_HOUR))
    if not (is_number and int(digits) <= MAX_PER_HOUR):
        raise UserError(
            f"{cut(text, 40)!r} isn't a limit.",
            hint=f"Write a number from 0 to {MAX_PER_HOUR}, or none.",
        )
    return int(digits)
