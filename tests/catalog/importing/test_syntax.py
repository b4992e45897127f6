import ast

import pytest

from kernelbot.catalog.fields import DefinitionFindings
from kernelbot.catalog.importing.syntax import parse, with_numbers_at_most


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rows = 4096\n", "rows = 16\n"),
        ("rows = 2**21 + 1  # 4096\n", "rows = 16  # 4096\n"),
        ("sizes = [(3, 1_000), 0x40]\n", "sizes = [(3, 16), 16]\n"),
        ("wide = rows * 1024\n", "wide = rows * 16\n"),
        ("name, on = 'größe 99', True, 99\n", "name, on = 'größe 99', True, 16\n"),
        ("a = 1; b = 77\x0c; c = 88\n", "a = 1; b = 16\x0c; c = 16\n"),
        ("huge = 9 ** 9 ** 99\n", "huge = 9 ** 9 ** 16\n"),
        ("rate = 1e9\n", "rate = 1e9\n"),
    ],
)
def test_only_whole_numbers_above_the_limit_change(text: str, expected: str) -> None:
    assert expected == with_numbers_at_most(text, 16, [ast.parse(text)])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"x = {'(' * 9}2{'**64)' * 9}\n", f"x = {'(' * 9}16){'**16)' * 8}\n"),
        (f"x = n{'+1' * 2000}, 99\n", f"x = n{'+1' * 2000}, 16\n"),
    ],
    ids=["a number that doesn't fit into memory", "a sum deeper than Python's stack"],
)
def test_what_was_made_to_take_long_takes_no_time(text: str, expected: str) -> None:
    assert expected == with_numbers_at_most(text, 16, [ast.parse(text)])


@pytest.mark.parametrize("text", ["def f(:\n", "(" * 5000, "x = 1\0", "x = " + "1" * 5000])
def test_what_is_not_python_is_a_finding(text: str) -> None:
    findings = DefinitionFindings("a.py")
    assert (None, 1) == (parse(text, findings), len(findings.errors))
