import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.harness.inside.cuda_on_cpu.tokens import SourceTokenKind, tokenize
from tests.support.exhaustive import cases

_PIECES = st.sampled_from(
    [
        "/*",
        "*/",
        "//",
        '"',
        "'",
        "\\",
        "\n",
        'R"(',
        ')"',
        'R"x(',
        ')x"',
        "<<<",
        ">>>",
        "a",
        "1'0",
        " ",
    ]
)


@given(st.one_of(st.text(), st.lists(_PIECES).map("".join)))
def test_no_character_is_lost(text: str) -> None:
    tokens = tokenize(text)
    assert text == "".join(token.text for token in tokens)
    assert [
        1 + text[: len("".join(t.text for t in tokens[:i]))].count("\n") for i in range(len(tokens))
    ] == [token.line for token in tokens]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("// k<<<1>>>()", SourceTokenKind.SPACE),
        ("// goes on \\\n k<<<1>>>()", SourceTokenKind.SPACE),
        ("/* k<<<1>>>()\n */", SourceTokenKind.SPACE),
        ('"k<<<1>>>() \\" // "', SourceTokenKind.TEXT),
        ('u8R"x(k<<<1>>>(")")x"', SourceTokenKind.TEXT),
        ("'\"'", SourceTokenKind.TEXT),
        ("1'000'000u", SourceTokenKind.NUMBER),
        ("0x1p-3f", SourceTokenKind.NUMBER),
        ("_name9", SourceTokenKind.NAME),
        ("<<<", SourceTokenKind.SIGN),
        ("->", SourceTokenKind.SIGN),
    ],
)
def test_a_piece_is_one_token(text: str, kind: SourceTokenKind) -> None:
    assert [(kind, text)] == [(token.kind, token.text) for token in tokenize(text)]


@pytest.mark.parametrize(
    "piece",
    cases(["/*", 'R"(', '"', "'", "<<<", "//\\\n", "1'", "a\\\n", '\\"', "\\'"], ["/*", "<<<"]),
)
def test_a_hostile_text_takes_no_time(piece: str) -> None:
    started = time.process_time()
    tokenize(piece * 200_000)
    assert time.process_time() - started < 5
