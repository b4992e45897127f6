"""Authors' pages and what one follows: `author show`, `author page`, `follow`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from kernelbot.cli.completion import board_names
from kernelbot.cli.declaring import Argument, Commands, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.options import Json, Url
from kernelbot.cli.session import connected
from kernelbot.cli.terminal import columns
from kernelbot.domain.errors import UserError

if TYPE_CHECKING:
    from kernelbot.ranking.authors.model import Author
    from kernelbot.ranking.following.model import Following


def register(app: Commands) -> None:
    """Add the commands."""
    group = Commands("Show authors, and what others see of you.")
    group.command(epilog=examples("kernelbot author show ada", "kernelbot author show"))(show)
    group.command(epilog=examples("kernelbot author page", "kernelbot author page --private"))(page)
    app.add(group, "author")
    app.command(
        epilog=examples(
            "kernelbot follow",
            "kernelbot follow --board sort_np",
            "kernelbot follow --author ada --stop",
        )
    )(follow)


def show(
    name: Annotated[
        str | None, Argument(help="Whose page. Default: yours.", show_default=False)
    ] = None,
    limit: Annotated[int, Option(min=1, max=100, help="How many scores.")] = 10,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Show an author's places in rankings, medals, and latest scores that count."""
    from kernelbot.client.endpoint import url_for_others
    from kernelbot.render.text import counted, one_line

    with connected(url, as_json) as (terminal, client):
        if name is None:
            author = client.author(client.me().id, limit=limit)
        else:
            author = client.author_named(name, limit=limit)
        server = url_for_others(client.url)
    private = ", private" if author.private else ""
    places = counted(len(author.standings), "place")
    terminal.show(f"{one_line(author.name)}: {places} in rankings{private}")
    if author.medals:
        terminal.show("Medals: " + ", ".join(_medals(author)))
    if author.standings:
        terminal.show(f"\n{_ranks_table(author)}")
    if author.history.scores:
        terminal.show(f"\n{_history(author)}")
    terminal.answer(f"\nIts page: {server}/author/{author.id}", author)


def page(
    private: Annotated[
        bool | None,
        Option("--private/--public", help="Who finds it from now on.", show_default=False),
    ] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Show whether your page as an author is private, or change that. Rankings name you all the
    same."""
    from kernelbot.client.endpoint import url_for_others

    with connected(url, as_json) as (terminal, client):
        shown = client.author_page() if private is None else client.set_author_page(private)
        address = f"{url_for_others(client.url)}/author/{client.me().id}"
    who = "Only you and admins find" if shown.private else "Whoever sees a ranking with you finds"
    terminal.answer(f"{who} your page: {address}", shown)


def follow(
    board: Annotated[
        str | None,
        Option("--board", "-b", help="A board.", show_default=False, autocompletion=board_names),
    ] = None,
    author: Annotated[str | None, Option(help="An author.", show_default=False)] = None,
    stop: Annotated[bool, Option("--stop", help="Follow them no longer.")] = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Follow boards and authors, and show what you follow and what is new there."""
    from kernelbot.render.text import one_line

    if stop and board is None and author is None:
        raise UserError("--stop is for a board or an author.", hint="Name it: --board or --author.")
    with connected(url, as_json, board=board) as (terminal, client):
        if board is not None:
            (client.unfollow_board if stop else client.follow_board)(board)
        if author is not None:
            found = client.author_named(author, limit=1)
            (client.unfollow_author if stop else client.follow_author)(found.id)
        following = client.following()
    boards = ", ".join(map(one_line, following.boards)) or "none"
    authors = ", ".join(one_line(one.name) for one in following.authors) or "none"
    terminal.show(f"Boards: {boards}\nAuthors: {authors}")
    if following.news:
        terminal.show(f"\n{_news(following)}")
    terminal.document(following)


def _news(following: Following) -> str:
    from kernelbot.render.table import table
    from kernelbot.render.text import one_line
    from kernelbot.render.units import seconds_text

    rows = [
        (
            f"{one.achieved_at:%Y-%m-%d %H:%M}",
            one_line(one.author),
            one_line(one.board),
            one_line(one.device),
            seconds_text(one.score_s),
            "record" if one.record else "",
        )
        for one in following.news
    ]
    head = ("submitted", "author", "board", "device", "score", "")
    return table(head, rows, right=("score",), columns=columns())


def _medals(author: Author) -> list[str]:
    """How many of each kind, the best first."""
    kinds = {1: "gold", 2: "silver", 3: "bronze"}
    return [f"{count} {kinds[rank]}" for rank, count in author.medal_counts.items()]


def _ranks_table(author: Author) -> str:
    from kernelbot.render.standings import rank_text
    from kernelbot.render.table import table
    from kernelbot.render.text import one_line
    from kernelbot.render.units import seconds_text

    rows = [
        (
            one_line(one.board),
            one_line(one.device),
            f"{rank_text(one.rank, one.shared)} of {one.authors}",
            seconds_text(one.score_s),
            f"{one.achieved_at:%Y-%m-%d}",
            "ended" if one.ended else "",
        )
        for one in author.standings
    ]
    head = ("board", "device", "place", "score", "since", "")
    return table(head, rows, right=("place", "score"), columns=columns())


def _history(author: Author) -> str:
    from kernelbot.render.table import table
    from kernelbot.render.text import one_line
    from kernelbot.render.units import seconds_text

    rows = [
        (
            f"{one.achieved_at:%Y-%m-%d %H:%M}",
            one_line(one.board),
            one_line(one.device),
            seconds_text(one.score_s),
        )
        for one in author.history.scores
    ]
    return table(
        ("submitted", "board", "device", "score"), rows, right=("score",), columns=columns()
    )
