"""Authors' text as JSON that Postgres takes."""

from types import MappingProxyType

import pytest

from kernelbot.store.jsontext import dumps


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"message": "a\x00b"}, '{"message": "a␀b"}'),
        ({"a\x00b": [1.5, None, "ü"]}, '{"a␀b": [1.5, null, "ü"]}'),
        ({"said": ("\ud800", "x")}, '{"said": ["?", "x"]}'),
        ({"said": "\\u0000"}, '{"said": "\\\\u0000"}'),
        (MappingProxyType({"one": MappingProxyType({"two": 2})}), '{"one": {"two": 2}}'),
    ],
)
def test_a_value_is_written_so_that_a_column_takes_it(value: object, text: str) -> None:
    assert text == dumps(value)


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        dumps({"score": float("nan")})
