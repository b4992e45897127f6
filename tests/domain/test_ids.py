import pytest

from kernelbot.domain.ids import BIGINT_MAX, can_be_id


@pytest.mark.parametrize(
    ("number", "can_be"),
    [(-1, False), (0, False), (1, True), (BIGINT_MAX, True), (BIGINT_MAX + 1, False)],
)
def test_an_id_is_what_a_bigint_column_counts(number: int, can_be: bool) -> None:
    assert can_be == can_be_id(number)


def test_a_bigint_column_has_eight_bytes() -> None:
    assert int.from_bytes(b"\x7f" + b"\xff" * 7) == BIGINT_MAX
