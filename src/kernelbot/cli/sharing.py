"""Links to results: `submission share`."""

from __future__ import annotations

from typing import Annotated

from kernelbot.cli.completion import submission_numbers
from kernelbot.cli.declaring import Argument, Commands, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.options import Json, Url
from kernelbot.cli.session import connected
from kernelbot.domain.errors import UserError


def register(group: Commands) -> None:
    """Add the command."""
    group.command(
        epilog=examples(
            "kernelbot submission share 12",
            "kernelbot submission share 12 --code",
            "kernelbot submission share 12 --stop",
        )
    )(share)


def share(
    number: Annotated[
        int,
        Argument(
            min=1, metavar="ID", help="The submission's number.", autocompletion=submission_numbers
        ),
    ],
    code: Annotated[bool, Option("--code", help="Show the code as well.")] = False,
    stop: Annotated[bool, Option("--stop", help="End the link.")] = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Make a link by which anybody sees a ranked result of yours; while a board runs towards a
    deadline, without the code."""
    from kernelbot.client.endpoint import url_for_others

    if code and stop:
        raise UserError("--code and --stop can't be used together.", hint="Choose one.")
    with connected(url, as_json) as (terminal, client):
        if stop:
            client.stop_sharing(number)
            terminal.show(f"Submission {number} is shown by no link any more.")
            terminal.document({"submission_id": number, "link": None})
            return
        link = client.share(number, shows_code=code)
        what = "the score and, once it may be shown, the code" if link.shows_code else "the score"
        terminal.show(
            f"Whoever has this link sees {what}:\n\n    {url_for_others(client.url)}{link.path}\n"
        )
        terminal.show(f"End it: kernelbot submission share {number} --stop")
    terminal.document(link)
