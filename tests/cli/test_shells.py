"""What a press of a key shows is cut and wrapped as typer and rich do it, to the letter."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer import rich_utils
from typer._click.shell_completion import CompletionItem
from typer._click.utils import make_default_short_help
from typer._completion_classes import ZshComplete

from kernelbot.cli import shells
from kernelbot.cli.well_formed import Unclear
from tests.support.exhaustive import examples

WORDS = st.sampled_from(
    ["a", "an", "sort.", "kernel", "measured:", "x" * 17, "x" * 40, "e.g.", "'`$"]
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=30).map(" ".join)


@given(st.lists(st.one_of(WORDS, st.just("\n"), st.just("\n\n")), max_size=30).map(" ".join))
@settings(max_examples=examples(300))
def test_a_help_is_cut_as_typer_cuts_it(text: str) -> None:
    assert make_default_short_help(text) == shells.short(text)


@given(SENTENCES, st.integers(min_value=1, max_value=90))
@settings(max_examples=examples(200), deadline=None)
def test_a_sentence_is_wrapped_as_rich_wraps_it(text: str, width: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        try:
            found = shells._in_zsh("word", text)
        except Unclear:
            return
        complete = ZshComplete(None, {}, "kernelbot", "_KERNELBOT_COMPLETE")  # type: ignore[arg-type]
        assert complete.format_completion(CompletionItem("word", help=text)) == found


@pytest.mark.parametrize("text", ["[b]bold[/]", ":smile: and :tada:", "é", "two\nlines", "x" * 41])
def test_what_rich_may_show_otherwise_is_left_to_it(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "40")
        with pytest.raises(Unclear):
            shells._without_marks(text)


def test_a_plain_sentence_is_shown_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = "Where the seconds went: one row each."
    assert rich_utils.rich_render_text(text) == shells._without_marks(text) == text
