import pytest

from kernelbot.domain.errors import InvalidSubmission
from kernelbot.submissions.directives import Directives, read_directives


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("", Directives()),
        ("x = 1\n#!POPCORN gpu H100\n", Directives()),
        ("#!POPCORN leaderboard sort\n", Directives("sort")),
        ("#!POPCORN gpu H100\n", Directives(None, ("H100",))),
        ("#!POPCORN gpus H100 MI300 H100\n", Directives(None, ("H100", "MI300"))),
        ("// (c)\n\n//!POPCORN leaderboard a\n//!POPCORN gpu b\n", Directives("a", ("b",))),
        ("\ufeff#!/usr/bin/env python\r\n#!POPCORN GPU T4\r\n", Directives(None, ("T4",))),
        ("#!POPCORNED gpu\n", Directives()),
    ],
)
def test_what_a_file_says_of_itself(code: str, expected: Directives) -> None:
    assert read_directives(code) == expected


@pytest.mark.parametrize(
    "code",
    [
        "#!POPCORN\n",
        "#!POPCORN gpu\n",
        "#!POPCORN leaderboard\n",
        "#!POPCORN leaderboard a b\n",
        "#!POPCORN leaderboard a\n#!POPCORN leaderboard a\n",
        "#!POPCORN gpu a\n#!POPCORN gpus b\n",
        "#!POPCORN colour red\n",
    ],
)
def test_unclear_directives_are_refused(code: str) -> None:
    with pytest.raises(InvalidSubmission):
        read_directives(code)
