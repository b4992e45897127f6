from collections.abc import Sequence
from itertools import islice

import pytest

from kernelbot.harness.inside import kernel_files
from kernelbot.harness.inside.own_users import FIRST_USER, USERS, own_users, user_map

LAST = FIRST_USER + USERS - 1


@pytest.mark.parametrize(
    ("uid", "first"),
    [
        (60717, FIRST_USER),
        (1500, FIRST_USER),
        (FIRST_USER, FIRST_USER + 1),
        (61000, 61001),
        (LAST - 1, LAST),
        (LAST + 1, FIRST_USER),
    ],
)
def test_a_map_has_each_user_once(uid: int, first: int) -> None:
    expected = f"1000 {uid} 1\n{first} {first} {LAST + 1 - first}\n"
    assert expected == user_map(uid, 1000)


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (f"1000 60717 1\n{FIRST_USER} {FIRST_USER} {USERS}\n", range(FIRST_USER, LAST + 1)),
        ("0 0 1\n", ()),
    ],
)
def test_eight_in_a_row_differ(
    monkeypatch: pytest.MonkeyPatch, ids: str, expected: Sequence[int]
) -> None:
    monkeypatch.setattr(kernel_files, "read", lambda _: ids)
    drawn = list(islice(own_users(), 8000))
    assert set(expected) == set(drawn)
    assert all(8 == len(set(drawn[at : at + 8])) for at in range(max(len(drawn) - 8, 0)))
