"""`board delete`, `submission delete`, `user delete`. On a terminal the person is asked first; not
with `--yes` or `--json`, and not in a script."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from kernelbot.cli.asking import confirm
from kernelbot.cli.declaring import Argument, Commands, Exit, Option
from kernelbot.cli.errors import REFUSED
from kernelbot.cli.examples import examples
from kernelbot.cli.options import BoardName, Json, Url
from kernelbot.cli.session import connected
from kernelbot.cli.terminal import is_attended
from kernelbot.domain.errors import UserError

if TYPE_CHECKING:
    from kernelbot.client import KernelbotClient

Yes = Annotated[bool, Option("--yes", "-y", help="Don't ask, also on a terminal.")]


def register_boards(group: Commands) -> None:
    """Add the command to `board`."""
    group.command("delete", epilog=examples("kernelbot board delete autumn --force"))(delete_board)


def register_submissions(group: Commands) -> None:
    """Add the command to `submission`."""
    group.command(
        "delete",
        epilog=examples(
            "kernelbot submission delete 12",
            "kernelbot submission delete --board autumn --user eve",
        ),
    )(delete_submission)


def register_users(group: Commands) -> None:
    """Add the command to `user`."""
    group.command("delete", epilog=examples("kernelbot user delete eve --force"))(delete_user)


def delete_board(
    name: BoardName,
    force: Annotated[bool, Option("--force", help="Also with submissions.")] = False,
    yes: Yes = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Delete a board. For its organisers; this can't be undone."""
    from kernelbot.render.text import counted

    with connected(url, as_json, board=name) as (terminal, client):
        _confirm(f"the board {name}", client, yes=yes or as_json)
        gone = client.organise.delete_board(name, force=force)
    made = counted(gone.submissions, "submission")
    terminal.show(f"Board {name} is deleted, and {made} with it.")
    terminal.document({"board": name, "submissions": gone.submissions})


def delete_submission(
    submission_id: Annotated[
        int | None, Argument(min=1, help="The submission's number.", show_default=False)
    ] = None,
    board: Annotated[
        str | None, Option("--board", "-b", help="With --user.", show_default=False)
    ] = None,
    user: Annotated[
        str | None,
        Option("--user", help="All of this person's on --board.", show_default=False),
    ] = None,
    yes: Yes = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Delete a submission, or all of a person's on a board; this can't be undone.

    If you delete your own submission, the same code isn't ranked again.
    """
    with connected(url, as_json, board=board) as (terminal, client):
        if submission_id is not None and board is None and user is None:
            _confirm(f"submission {submission_id}", client, yes=yes or as_json)
            gone = client.organise.delete_submission(submission_id)
        elif submission_id is None and board is not None and user is not None:
            _confirm(f"all submissions of {user} to {board}", client, yes=yes or as_json)
            gone = client.organise.delete_submissions_of(board, user)
        else:
            raise UserError("Name a submission's number, or both --board and --user.")
    terminal.answer(f"Deleted: {gone.submissions}.", gone)


def delete_user(
    name: Annotated[str, Argument(help="Whose account: yours, or for admins anybody's.")],
    force: Annotated[bool, Option("--force", help="Also with submissions.")] = False,
    yes: Yes = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Delete an account with its tokens and submissions; this can't be undone."""
    from kernelbot.render.text import counted, one_line

    with connected(url, as_json) as (terminal, client):
        _confirm(f"the account {name}", client, yes=yes or as_json)
        own = name.lower() == client.me().name.lower()
        user_id = None if own else client.user_named(name).id
        gone = client.organise.delete_user(user_id, force=force)
    made = counted(gone.submissions, "submission")
    terminal.show(f"The account {one_line(name)} is deleted, and {made} with it.")
    terminal.document({"user": name, "submissions": gone.submissions})


def _confirm(what: str, client: KernelbotClient, *, yes: bool) -> None:
    """Ask for confirmation on a terminal; a script isn't asked.

    Raises `Exit` with 1 if the person says no.
    """
    from kernelbot.render.text import one_line

    if yes or not is_attended():
        return
    question = f"Delete {one_line(what)} at {client.url}? This can't be undone."
    if not confirm(question):
        print("Nothing was deleted.", file=sys.stderr)
        raise Exit(REFUSED)
