"""The seeds of a call's data."""

import hashlib
import struct

from hypothesis import given
from hypothesis import strategies as st

from kernelbot.harness.words.seeds import call_seed, cantor_pair, case_arguments, with_seed
from kernelbot.protocol import Case


def test_public_cases_are_exactly_as_written() -> None:
    assert {"size": 5, "seed": 4242} == case_arguments(Case({"size": 5, "seed": 4242}), None)


def test_a_secret_seed_is_mixed_by_the_cantor_pairing() -> None:
    assert {"seed": 3 + (3 + 4) * (3 + 4 + 1) // 2} == case_arguments(Case({"seed": 3}), 4)


def test_a_case_without_a_seed_stays_without() -> None:
    assert {"size": 5} == case_arguments(Case({"size": 5}), 99)
    assert {"size": 5} == with_seed({"size": 5}, 99)


@given(st.integers(0, 2**40), st.integers(0, 2**63))
def test_seeds_fit_every_generator(seed: int, secret: int) -> None:
    mixed = case_arguments(Case({"seed": seed}), secret)["seed"]
    assert isinstance(mixed, int)
    assert 0 <= mixed < 2**31


@given(
    st.tuples(st.integers(0, 500), st.integers(0, 500)),
    st.tuples(st.integers(0, 500), st.integers(0, 500)),
)
def test_the_pairing_never_collides(one: tuple[int, int], other: tuple[int, int]) -> None:
    assert (one == other) == (cantor_pair(*one) == cantor_pair(*other))


@given(st.binary(max_size=32), st.integers(0, 500), st.integers(0, 500))
def test_a_calls_seed_is_31_bits_of_a_hash(secret: bytes, case: int, call: int) -> None:
    text = secret + struct.pack("<II", case, call)
    (number,) = struct.unpack("<I", hashlib.sha256(text).digest()[:4])
    assert number % 2**31 == call_seed(secret, case, call)


def test_calls_and_secrets_have_their_own_seeds() -> None:
    places = [(b"a", 0, 0), (b"a", 0, 1), (b"a", 1, 0), (b"b", 0, 0)]
    assert len(places) == len({call_seed(*place) for place in places})
