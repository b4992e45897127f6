import re

import pytest

from kernelbot.domain.errors import InvalidSubmission, SubmissionTooLarge
from kernelbot.protocol import Lang
from kernelbot.submissions.source import (
    MAX_SOURCE_BYTES,
    check_language,
    language_of,
    source_text,
)


def test_text_comes_back_as_it_is() -> None:
    assert "# späße\r\nx = 1" == source_text("# späße\r\nx = 1".encode())


def test_a_byte_order_mark_is_no_part_of_it() -> None:
    assert "x = 1" == source_text(b"\xef\xbb\xbfx = 1")


def test_another_encoding_is_refused() -> None:
    with pytest.raises(InvalidSubmission, match="byte 5 can't be read"):
        source_text(b"x = '\xff'")


def test_the_largest_file_is_taken_and_one_byte_more_is_not() -> None:
    assert MAX_SOURCE_BYTES == len(source_text(b"#" * MAX_SOURCE_BYTES))
    with pytest.raises(SubmissionTooLarge, match="1 MiB"):
        source_text(b"#" * (MAX_SOURCE_BYTES + 1))


@pytest.mark.parametrize(
    ("name", "lang"),
    [("a.py", Lang.PY), ("a.PY", Lang.PY), ("a.cuh", Lang.CU), ("b.cpp.py", Lang.PY)],
)
def test_a_file_of_the_problem_s_language(name: str, lang: Lang) -> None:
    check_language(name, lang)


@pytest.mark.parametrize(
    ("name", "lang", "said"),
    [
        ("a.cpp", Lang.PY, "Python"),
        ("a.py", Lang.CU, "CUDA"),
        ("a.cu", Lang.CPP, "C++"),
        ("a", Lang.PY, "'a'"),
    ],
)
def test_a_file_of_another_language_is_refused(name: str, lang: Lang, said: str) -> None:
    with pytest.raises(InvalidSubmission, match=re.escape(said)):
        check_language(name, lang)


def test_a_file_is_python_unless_its_name_says_another_language() -> None:
    names = ("a.py", "a.cu", "a.cpp", "a.txt", "a")
    expected = [Lang.PY, Lang.CU, Lang.CPP, Lang.PY, Lang.PY]
    assert expected == [language_of(name) for name in names]
