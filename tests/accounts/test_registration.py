"""The names that a provider's person may get here."""

import pytest

from kernelbot.accounts.logins.providers import ProviderPerson
from kernelbot.accounts.registration import _names


@pytest.mark.parametrize(
    ("given", "shown", "stem"),
    [
        ("ada", "ada", "ada"),
        (" a\x00d\u202ea\n", "ada", "ada"),
        ("\x00", "someone", "someone"),
        ("x" * 64, "x" * 64, "x" * 47),
        ("x" * 65, "x" * 64, "x" * 47),
        ("x" * 63 + " y", "x" * 63, "x" * 47),
        ("x" * 46 + " y", "x" * 46 + " y", "x" * 46),
    ],
)
def test_a_providers_name_is_made_a_name_here_and_tried_with_numbers(
    given: str, shown: str, stem: str
) -> None:
    first, *numbered, last = _names(ProviderPerson("7", given))
    assert (shown, [f"{stem}-{number}" for number in range(2, 10)]) == (first, numbered)
    assert (stem, 16) == (last[:-17], len(bytes.fromhex(last[-16:])) * 2)
    assert max(map(len, (first, *numbered, last))) <= 64
