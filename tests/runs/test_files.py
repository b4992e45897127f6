import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.protocol import Artifact
from kernelbot.runs.files import MAX_NAME, safe_name, under_safe_names

NAMES = st.text(max_size=300)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("profile.1.ncu-rep", "profile.1.ncu-rep"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ("a\\b:c", "a_b_c"),
        ('x"; rm -rf ~\r\n', "x___rm_-rf____"),
        ("späße.txt", "sp__e.txt"),
        (".bashrc", "bashrc"),
        ("...", "file"),
        ("", "file"),
        ("x" * 200 + ".csv", "x" * 96 + ".csv"),
    ],
)
def test_what_could_mean_something_else_is_replaced(name: str, expected: str) -> None:
    assert expected == safe_name(name)


@given(NAMES)
def test_a_safe_name_is_short_plain_and_stays_as_it_is(name: str) -> None:
    safe = safe_name(name)
    assert safe == safe_name(safe)
    assert 0 < len(safe) <= MAX_NAME
    assert not safe.startswith(".")
    assert all(c.isascii() and (c.isalnum() or c in "._-") for c in safe)


def test_long_names_that_become_alike_make_room_for_a_number() -> None:
    long = "x" * MAX_NAME
    kept = under_safe_names([Artifact(long, "text/plain", "")] * 3)
    assert [long, "2-" + "x" * 98, "3-" + "x" * 98] == [item.name for item in kept]


@given(st.lists(NAMES | st.text("a.é", min_size=99, max_size=101), max_size=20))
def test_names_that_become_alike_stay_apart(names: list[str]) -> None:
    contents = [base64.b64encode(str(at).encode()).decode() for at in range(len(names))]
    given_files = [
        Artifact(name, "text/plain", text) for name, text in zip(names, contents, strict=True)
    ]
    kept = under_safe_names(given_files)
    assert contents == [item.content_base64 for item in kept]
    assert len(names) == len({item.name for item in kept})
    assert kept == under_safe_names(kept)
