from dataclasses import replace
from typing import Any

import pytest

from kernelbot.catalog.bounds import check_bounds
from kernelbot.domain.errors import InvalidProblem
from kernelbot.protocol import Case, Floor, SourceFile, Timeouts
from tests.support.problems import sort_problem


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("name", {"name": ""}),
        ("name", {"name": "x" * 201}),
        ("name", {"name": "a\nb"}),
        ("files", {"files": (SourceFile("../x.py", ""),)}),
        ("files", {"submission_name": "/etc/passwd"}),
        ("files", {"submission_name": "reference.py"}),
        ("files", {"files": (SourceFile("x.py", "x" * ((1 << 20) + 1)),)}),
        ("files", {"files": tuple(SourceFile(f"{n}.py", "") for n in range(200))}),
        ("anchor", {"anchor": "submission.py"}),
        ("tests", {"tests": ()}),
        ("benchmarks", {"benchmarks": (Case({}),) * 1001}),
        ("tests[0]", {"tests": (Case({"a; b": 1}),)}),
        ("tests[0]", {"tests": (Case({"class": 1}),)}),
        ("tests[0].a", {"tests": (Case({"a": 2**63}),)}),
        ("tests[0].a", {"tests": (Case({"a": ["x\ny"]}),)}),
        ("tests[0].world_size", {"multi_gpu": True, "tests": (Case({"world_size": 17}),)}),
        ("benchmarks[0].world_size", {"multi_gpu": True}),
        ("timeouts.test_s", {"timeouts": Timeouts(test_s=0)}),
        ("timeouts.ranked_s", {"timeouts": Timeouts(ranked_s=1e300)}),
        ("floors", {"floors": (None, None)}),
        ("floors", {"floors": (Floor(flops=-1.0),)}),
    ],
)
def test_what_no_folder_can_say_is_refused(key: str, change: dict[str, Any]) -> None:
    usual = sort_problem()
    with pytest.raises(InvalidProblem) as raised:
        check_bounds(replace(usual, spec=replace(usual.spec, **change)))
    assert key in {finding.key for finding in raised.value.findings}


def test_long_texts_are_refused() -> None:
    long = replace(sort_problem(), description="x" * (1 << 20), templates={"Python": "x" * 2**21})
    with pytest.raises(InvalidProblem) as raised:
        check_bounds(long)
    assert ["description", "templates"] == [finding.key for finding in raised.value.findings]


def test_a_usual_problem_is_taken() -> None:
    usual = sort_problem()
    cases = (Case({"shape": [1, [2.5]], "name": "x", "fast": True, "size": 2**63 - 1}),)
    spec = replace(usual.spec, tests=cases, anchor="reference.py", floors=(Floor(flops=1.0),))
    check_bounds(replace(usual, spec=spec))
