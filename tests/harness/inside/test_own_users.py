import pytest

from kernelbot.harness.inside.own_users import FIRST_USER, USERS, user_map

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
