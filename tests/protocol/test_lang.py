"""Languages: what each is told by the names of files."""

from pathlib import Path

import pytest
from pygments.lexers import find_lexer_class_by_name

import kernelbot.catalog
from kernelbot.protocol import Lang


@pytest.mark.parametrize(
    ("suffix", "lang"),
    [
        (".py", Lang.PY),
        (".PY", Lang.PY),
        (".cu", Lang.CU),
        (".cuh", Lang.CU),
        (".cpp", Lang.CPP),
        (".c", None),
        ("py", None),
        ("", None),
        (".py\n", None),
    ],
)
def test_a_language_is_found_by_the_ending_of_a_name(suffix: str, lang: Lang | None) -> None:
    assert lang is Lang.by_suffix(suffix)


def test_no_ending_belongs_to_two_languages() -> None:
    suffixes = Lang.all_suffixes()
    assert len(set(suffixes)) == len(suffixes)
    assert [] == [one for one in suffixes if one != one.lower() or not one.startswith(".")]


@pytest.mark.parametrize("lang", Lang)
def test_each_language_has_a_lexer_and_a_problem_to_begin_with(lang: Lang) -> None:
    assert find_lexer_class_by_name(lang.lexer).aliases
    skeleton = Path(kernelbot.catalog.__file__).parent / "skeletons" / lang
    submissions = [path.name for path in skeleton.glob("submission.*")]
    assert [f"submission{lang.suffixes[0]}.txt"] == submissions


def test_only_the_names_of_languages_are_languages() -> None:
    with pytest.raises(ValueError, match="Python"):
        Lang("Python")
