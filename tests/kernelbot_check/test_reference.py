import numpy as np
import pytest

from kernelbot_check import match_reference, relative_to


def test_a_checker_is_made_of_a_reference() -> None:
    check = match_reference(np.sort)
    data = np.array([3, 1, 2])
    assert (check(data, np.array([1, 2, 3])), check(data, data)[0]) == ((True, ""), False)


def test_a_reference_cant_change_the_data() -> None:
    def greedy(data: np.ndarray) -> np.ndarray:
        data.sort()
        return data

    data = np.array([3, 1, 2])
    match_reference(greedy)(data, data)
    assert data.tolist() == [3, 1, 2]


def test_single_precision_is_as_good_as_it_can_be() -> None:
    rng = np.random.default_rng(1)
    left, right = rng.standard_normal((2, 64, 64))
    precise = left @ right
    single = left.astype(np.float32) @ right.astype(np.float32)
    half = (left.astype(np.float16) @ right.astype(np.float16)).astype(np.float32)
    assert relative_to(single, precise, terms=64)[0]
    assert not relative_to(half, precise, terms=64)[0]


def test_cancelling_sums_are_held_against_the_rest() -> None:
    precise = np.array([1.0, -1.0, 0.0])
    assert relative_to(precise.astype(np.float32) + np.float32(1e-7), precise)[0]


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_odd_numbers_are_refused(odd: float) -> None:
    assert not relative_to(np.array([odd, 1], np.float32), np.array([1.0, 1.0]))[0]


def test_tensors_too() -> None:
    torch = pytest.importorskip("torch")
    precise = torch.linspace(0, 1, 8, dtype=torch.float64)
    assert relative_to(precise.float(), precise)[0]
    assert not relative_to(precise.half().float(), precise)[0]


def test_the_narrowest_types_have_roundings_of_their_own() -> None:
    torch = pytest.importorskip("torch")
    precise = torch.linspace(0, 1, 8, dtype=torch.float64)
    assert relative_to(precise.to(torch.float8_e4m3fn), precise, ulps=1.0)[0]
    assert not relative_to(precise.to(torch.float8_e4m3fn).float(), precise)[0]
