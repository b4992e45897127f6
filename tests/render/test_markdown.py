import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.render.markdown import fence, fenced_within, inline, plain


@pytest.mark.parametrize(
    "text",
    ["@everyone", "<@123>", "<#5>", "**bold**", "`code`", "||secret||", "https://x.y", "# big"],
)
def test_plain_text_means_nothing(text: str) -> None:
    shown = plain(text)
    assert text != shown
    assert text == re.sub(r"\\(.)", r"\1", shown)


def test_line_breaks_and_control_characters_are_written_out() -> None:
    assert r"a\\nb\\x1b\\u202e" == plain("a\nb\x1b\u202e")


@given(st.text())
def test_content_never_closes_its_block(text: str) -> None:
    inside = fence(text).removeprefix("```\n").removesuffix("\n```")
    assert "```" not in inside
    assert not inside.endswith("`")


@given(st.text(st.sampled_from("`a\n"), max_size=300), st.integers(20, 200))
def test_a_block_keeps_within_its_limit(text: str, limit: int) -> None:
    block = fenced_within(text, limit)
    assert len(block) <= limit
    assert block.startswith("```")
    assert block.endswith("```")


@given(st.text())
def test_inline_code_has_two_backticks_only(text: str) -> None:
    assert inline(text).count("`") == 2
