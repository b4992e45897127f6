import csv
import io
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.render.csv_text import csv_text


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\n=1", "\uff1d1", '=HYPERLINK("x")'],
)
def test_no_text_is_a_formula(text: str) -> None:
    assert [[f"'{text}"]] == list(csv.reader(io.StringIO(csv_text([(text,)]), newline="")))


def test_what_is_no_text_stays_as_it_is() -> None:
    row = (-1.5, True, None, datetime(2027, 1, 31, tzinfo=UTC))
    assert "-1.5,True,,2027-01-31T00:00:00+00:00\r\n" == csv_text([row])


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=1)
)
def test_a_reader_finds_each_text_and_perhaps_an_apostrophe(row: list[str]) -> None:
    (read,) = csv.reader(io.StringIO(csv_text([row]), newline=""))
    assert row == [
        one.removeprefix("'") if one != text else one for one, text in zip(read, row, strict=True)
    ]
