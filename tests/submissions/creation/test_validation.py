"""What is checked of a submission without a database, and what is said of what is wrong."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kernelbot.accounts.model import Role, User
from kernelbot.boards.model import Destination, Visibility
from kernelbot.domain.errors import KernelbotError
from kernelbot.protocol import Lang, Mode
from kernelbot.submissions.creation.validation import (
    _board_name,
    _check_open,
    _checked,
    _devices,
    check_upload,
)
from kernelbot.submissions.directives import Directives, read_directives
from kernelbot.submissions.model import NewSubmission

NOW = datetime.now(UTC)
ADA = User(2, "ada", Role.COMPETITOR, NOW, None)
NEW = NewSubmission("sort", (), Mode.TEST, "fast.py", b"x = 1\n")
BOARD = Destination(
    id=1,
    name="sort",
    problem_version_id=1,
    creator_id=1,
    visibility=Visibility.PUBLIC,
    deadline=None,
    invited=False,
    devices=("H100",),
    max_per_hour=None,
    lang=Lang.PY,
    refuse_unavailable=False,
    try_on_cpu=True,
    recurring_data="",
)
BOTH = replace(BOARD, devices=("CPU", "H100"))
NAME = (
    "The file's name must end in .py, .cu, .cuh or .cpp and have no slashes, line breaks or other "
    "control characters."
)
POPCORN = "Write `#!POPCORN leaderboard NAME` or `#!POPCORN gpu NAME` (`//!POPCORN` in C++)."


def said(check: Callable[[], object]) -> tuple[str, str]:
    """The sentence and the hint of what is raised."""
    with pytest.raises(KernelbotError) as refused:
        check()
    return str(refused.value), refused.value.hint


@pytest.mark.parametrize(
    ("content", "devices", "expected"),
    [
        (b"a\x00b", (), ("The file holds a NUL character, so it isn't a source text.", "")),
        (b" \n", (), ("The file is empty.", "Did you save it?")),
        (b"x", ("cpu", "T4"), ("There is no device named 'T4' here.", "Devices: CPU, H100.")),
    ],
)
def test_an_upload_that_is_none(
    content: bytes, devices: tuple[str, ...], expected: tuple[str, str]
) -> None:
    new = replace(NEW, content=content, devices=devices)
    assert expected == said(lambda: check_upload(new, ("CPU", "H100")))


def test_where_no_device_is_none_is_named() -> None:
    new = replace(NEW, devices=("CPU",))
    assert "Devices: none." == said(lambda: check_upload(new, ()))[1]
    assert "x = 1\n" == check_upload(NEW, ())


@pytest.mark.parametrize("name", ["a.py", "x" * 250 + ".py", "späße.cu", "a.b.cpp"])
def test_names_that_files_have(name: str) -> None:
    assert Directives() == _checked(ADA, replace(NEW, file_name=name), "x = 1\n")


@pytest.mark.parametrize(
    "name", [".py", "a.txt", "a", "x" * 251 + ".py", "a/b.py", "a\\b.py", "a\tb.py", "\u202ea.py"]
)
def test_names_that_no_file_has(name: str) -> None:
    found, hint = said(lambda: _checked(ADA, replace(NEW, file_name=name), "x = 1\n"))
    assert (NAME, "") == (found, hint)


def test_who_is_banned_is_told_so_first() -> None:
    banned = replace(ADA, banned_at=NOW)
    assert (
        "This account is banned from submitting."
        == said(lambda: _checked(banned, replace(NEW, file_name="a"), "#!POPCORN gpu\n"))[0]
    )


@pytest.mark.parametrize(
    ("given", "written", "name"),
    [("sort", None, "sort"), (None, "sort", "sort"), ("Sort", "sORT", "Sort")],
)
def test_the_board_is_named_by_form_or_file(
    given: str | None, written: str | None, name: str
) -> None:
    assert name == _board_name(replace(NEW, board=given), Directives(written))


@pytest.mark.parametrize(
    ("given", "written", "sentence"),
    [
        (None, None, "No board is named."),
        ("sort", "scan", "The file is for board 'scan' and was submitted to 'sort'."),
    ],
)
def test_a_board_that_is_not_named_or_named_twice(
    given: str | None, written: str | None, sentence: str
) -> None:
    assert sentence == said(lambda: _board_name(replace(NEW, board=given), Directives(written)))[0]


@pytest.mark.parametrize(
    ("deadline", "late", "is_open"),
    [
        (None, False, True),
        (NOW + timedelta(hours=1), False, True),
        (NOW - timedelta(hours=1), False, False),
        (NOW - timedelta(hours=1), True, True),
    ],
)
def test_a_board_is_open_until_its_deadline_and_later_for_whom_an_admin_lets_in(
    deadline: datetime | None, late: bool, is_open: bool
) -> None:
    board = replace(BOARD, deadline=deadline)
    if is_open:
        _check_open(ADA, board, late=late)
    else:
        found = said(lambda: _check_open(ADA, board, late=late))[0]
        assert f"The deadline of 'sort' passed at {deadline:%F %R} UTC." == found


@pytest.mark.parametrize(
    ("who", "invited", "is_open"),
    [
        (ADA, False, False),
        (ADA, True, True),
        (replace(ADA, role=Role.ADMIN), False, True),
        (replace(ADA, id=1, role=Role.CREATOR), False, True),
    ],
)
def test_a_board_by_invite_is_open_for_who_sees_it(who: User, invited: bool, is_open: bool) -> None:
    board = replace(BOARD, visibility=Visibility.CLOSED, invited=invited)
    if is_open:
        _check_open(who, board, late=False)
    else:
        expected = ("Board 'sort' is closed.", "Ask for an invite.")
        assert expected == said(lambda: _check_open(who, board, late=True))


@pytest.mark.parametrize(
    ("board", "wanted", "mode", "devices"),
    [
        (BOARD, (), Mode.LEADERBOARD, ("H100",)),
        (BOTH, ("h100", "cpu", "H100"), Mode.LEADERBOARD, ("H100", "CPU")),
        (BOARD, ("cpu",), Mode.TEST, ("CPU",)),
        (BOARD, ("h100", "cpu"), Mode.TEST, ("H100", "CPU")),
    ],
)
def test_devices_are_those_that_are_wanted_or_the_boards_only_one(
    board: Destination, wanted: tuple[str, ...], mode: Mode, devices: tuple[str, ...]
) -> None:
    assert devices == _devices(board, wanted, mode, ("CPU",))


@pytest.mark.parametrize(
    ("board", "wanted", "mode", "expected"),
    [
        (
            BOTH,
            (),
            Mode.TEST,
            ("Board 'sort' has several devices: name one.", "It offers: CPU, H100."),
        ),
        (
            BOARD,
            ("T4",),
            Mode.TEST,
            ("Board 'sort' doesn't offer 'T4'.", "It offers: H100."),
        ),
        (
            replace(BOARD, try_on_cpu=False),
            ("cpu",),
            Mode.TEST,
            ("Board 'sort' doesn't offer 'cpu'.", "It offers: H100."),
        ),
        (
            BOARD,
            ("cpu",),
            Mode.BENCHMARK,
            (
                "On CPU board 'sort' takes tests alone: a processor says nothing of a GPU's speed.",
                "Use the mode test, or one of its devices: H100.",
            ),
        ),
    ],
)
def test_devices_that_a_board_does_not_take(
    board: Destination, wanted: tuple[str, ...], mode: Mode, expected: tuple[str, str]
) -> None:
    assert expected == said(lambda: _devices(board, wanted, mode, ("CPU",)))


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("#!POPCORN\n", "holds an empty directive"),
        ("#!POPCORN gpu\n", "holds an empty directive"),
        ("#!POPCORN leaderboard a b\n", "names more than one leaderboard"),
        ("#!POPCORN leaderboard a\n#!POPCORN leaderboard a\n", "names more than one leaderboard"),
        ("#!POPCORN gpu a\n#!POPCORN gpus b\n", "names its devices twice"),
        ("#!POPCORN Colour red\n", "holds the unknown directive 'colour'"),
    ],
)
def test_what_is_unclear_in_a_file_is_said(code: str, what: str) -> None:
    assert (f"The file {what}.", POPCORN) == said(lambda: read_directives(code))
