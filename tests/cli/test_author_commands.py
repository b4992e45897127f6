"""Authors, followed boards and shared results in the terminal."""

import pytest

from tests.support.live import LiveServer
from tests.support.ranked import ranked
from tests.support.terminal import Shell

pytestmark = pytest.mark.each_run(
    "test_an_author_is_shown_by_name_or_oneself",
    "test_a_page_becomes_private_and_public_again",
)


def test_an_author_is_shown_by_name_or_oneself(ada: Shell, live: LiveServer) -> None:
    live.call(live.world.board())
    live.call(ranked(live.world, 1e-3, author=live.world.bob.user))
    shown = ada("author", "show", "BOB")
    own = ada("author", "show", "--json")
    assert (0, True, True) == (shown.code, "1 of 1" in shown.out, "1.00 ms" in shown.out)
    assert ("ada", []) == (own.document["name"], own.document["standings"])


def test_a_shared_place_is_written_as_in_the_ranking(ada: Shell, live: LiveServer) -> None:
    live.call(live.world.board())
    for author in (live.world.ada.user, live.world.bob.user):
        live.call(ranked(live.world, 1e-3, author=author))
    said = [ada("author", "show").out, ada("submission", "list").out]
    assert [True, True] == ["=1 of 2" in said[0], "=1" in said[1]]


def test_a_page_becomes_private_and_public_again(ada: Shell, live: LiveServer) -> None:
    private = ada("author", "page", "--private", "--json").document
    shown = ada("author", "page")
    public = ada("author", "page", "--public", "--json").document
    assert ({"private": True}, {"private": False}) == (private, public)
    assert "Only you and admins find your page: http" in shown.out


def test_nobody_is_an_error_with_a_sentence(ada: Shell) -> None:
    said = ada("author", "show", "a'; echo x")
    assert (2, True) == (said.code, "There is no such author's page" in said.err)


def test_to_stop_following_names_what(ada: Shell) -> None:
    assert 2 == ada("follow", "--stop").code


def test_a_board_and_an_author_are_followed(ada: Shell, live: LiveServer) -> None:
    live.call(live.world.board("followed"))
    live.call(ranked(live.world, 1e-3, author=live.world.bob.user, board="followed"))
    begun = ada("follow", "--board", "followed", "--author", "bob", "--json").document
    shown = ada("follow")
    ended = ada("follow", "--board", "followed", "--author", "bob", "--stop", "--json").document
    assert (["followed"], ["bob"]) == (begun["boards"], [one["name"] for one in begun["authors"]])
    assert ("record" in shown.out, [], []) == (True, ended["boards"], ended["news"])


def test_a_result_is_shared_and_the_link_ended(ada: Shell, live: LiveServer) -> None:
    live.call(live.world.board("shared"))
    number = str(live.call(ranked(live.world, 1e-3, board="shared")))
    made = ada("submission", "share", number, "--code")
    link = ada("submission", "share", number, "--json").document
    ended = ada("submission", "share", number, "--stop")
    assert (0, True, False, 0) == (
        made.code,
        link["path"] in made.out,
        link["shows_code"],
        ended.code,
    )
    assert 2 == ada("submission", "share", number, "--stop", "--code").code
