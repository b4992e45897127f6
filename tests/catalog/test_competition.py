from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.catalog.competition import load_competition, parse_deadline
from kernelbot.domain.errors import InvalidProblem
from tests.catalog.folders import write_problem

TEXT = """\
name: Spring
deadline: 2026-06-30
description: ""
problems:
  - directory: problem
    name: first
    gpus: [CPU]
  - directory: problem
    name: second
    deadline: "2026-03-15 01:00"
"""


def write(tmp_path: Path, text: str) -> Path:
    write_problem(tmp_path)
    path = tmp_path / "spring.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2025-06-30", datetime(2025, 6, 30, tzinfo=UTC)),
        ("2026-03-15 01:00", datetime(2026, 3, 15, 1, tzinfo=UTC)),
        ("2026-01-20 7:59", datetime(2026, 1, 20, 7, 59, tzinfo=UTC)),
        ("2026-01-20T07:59:30Z", datetime(2026, 1, 20, 7, 59, 30, tzinfo=UTC)),
        ("2026-01-20 07:59 +02:00", datetime(2026, 1, 20, 5, 59, tzinfo=UTC)),
        ("2026-01-20 07:59-0130", datetime(2026, 1, 20, 9, 29, tzinfo=UTC)),
        ("", None),
        ("  ", None),
    ],
)
def test_deadlines_are_read_in_utc(text: str, expected: datetime | None) -> None:
    assert expected == parse_deadline(text)


@pytest.mark.parametrize(
    "text", ["soon", "2026-13-01", "2026-01-20 25:00", "30.6.2026", "0001-01-01 00:00+10:00"]
)
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="isn't a date"):
        parse_deadline(text)


@pytest.mark.parametrize("zone", ["+99:99", "-24:00"])
def test_a_zone_that_nobody_has_is_named(zone: str) -> None:
    with pytest.raises(ValueError, match=f"isn't a date: no zone is \\{zone} from UTC$"):
        parse_deadline(f"2026-03-15 01:00 {zone}")


@pytest.mark.parametrize("text", ["9999-12-31 23:59", "9001-01-01", "1969-12-31 23:59"])
def test_a_year_that_is_no_deadlines_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="between the years 1970 and 9000"):
        parse_deadline(text)


@given(when=st.datetimes(datetime(1970, 1, 1), datetime(9000, 12, 31), timezones=st.just(UTC)))
def test_iso_text_reads_back(when: datetime) -> None:
    whole = when.replace(microsecond=0)
    assert whole == parse_deadline(whole.isoformat())


@given(text=st.text())
def test_any_text_is_a_date_or_a_value_error(text: str) -> None:
    with suppress(ValueError):
        parse_deadline(text)


def test_a_competition_is_read(tmp_path: Path) -> None:
    competition = load_competition(write(tmp_path, TEXT))
    first, second = competition.problems
    assert ("Spring", "") == (competition.name, competition.description)
    assert datetime(2026, 6, 30, tzinfo=UTC) == competition.deadline == first.deadline
    assert ("first", tmp_path / "problem", ("CPU",)) == (first.name, first.folder, first.devices)
    assert (datetime(2026, 3, 15, 1, tzinfo=UTC), ()) == (second.deadline, second.devices)


@pytest.mark.parametrize(
    ("old", "new", "key", "line"),
    [
        ("name: Spring", "title: Spring", "name", 1),
        ("2026-06-30", "soon", "deadline", 2),
        ("name: second", "name: first", "problems[1].name", 8),
        (
            "directory: problem\n    name: first",
            "directory: nowhere\n    name: first",
            "problems[0].directory",
            5,
        ),
        (
            "directory: problem\n    name: first",
            "directory: ../../../etc\n    name: first",
            "problems[0].directory",
            5,
        ),
        ("[CPU]", "CPU", "problems[0].gpus", 7),
        ('"2026-03-15 01:00"', "3", "problems[1].deadline", 10),
    ],
)
def test_mistakes_name_key_and_line(
    tmp_path: Path, old: str, new: str, key: str, line: int
) -> None:
    path = write(tmp_path, TEXT.replace(old, new, 1))
    with pytest.raises(InvalidProblem, match=r"spring\.yaml") as caught:
        load_competition(path)
    assert [(key, line)] == [(finding.key, finding.line) for finding in caught.value.findings]
