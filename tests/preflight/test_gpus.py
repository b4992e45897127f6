import pytest

from kernelbot.domain.errors import UserError
from kernelbot.preflight.gpus import NAMES, find_gpu


@pytest.mark.parametrize("name", NAMES)
def test_each_model_is_found_whatever_its_case(name: str) -> None:
    assert (name, name) == (find_gpu(name.lower()).name, find_gpu(name.upper()).name)


@pytest.mark.parametrize(("name", "guess"), [("H10", "H100"), ("mi300", "MI300X"), ("b20", "B200")])
def test_a_name_that_is_nearly_right_is_corrected(name: str, guess: str) -> None:
    with pytest.raises(UserError, match=f"Did you mean {guess}") as refused:
        find_gpu(name)
    assert "T4, L4, A100, H100, B200, MI300X, MI355X" in refused.value.hint


@pytest.mark.parametrize("name", ["", "'; echo x", "\x1b[31m", "x" * 10_000, "☃"])
def test_any_other_name_is_refused_in_a_short_sentence(name: str) -> None:
    with pytest.raises(UserError) as refused:
        find_gpu(name)
    assert len(str(refused.value)) < 150
    assert "\x1b" not in str(refused.value)
