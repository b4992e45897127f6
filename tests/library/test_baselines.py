import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.catalog.problem import load_problem
from kernelbot.catalog.skeleton import new_problem
from kernelbot.domain.errors import InvalidProblem
from kernelbot.library.baselines import MAX_AGE_S, Baseline, Baselines, baseline_source
from kernelbot.protocol import Lang


async def test_one_serves_for_a_minute() -> None:
    measured = list[Baseline]()

    async def measure() -> Baseline:
        measured.append(Baseline("reference.py", 1.0 + len(measured), (1.0, 2.0), ()))
        return measured[-1]

    baselines, now_s = Baselines(), time.monotonic()
    for key, at_s in (("a", now_s), ("a", now_s + MAX_AGE_S - 5), ("b", now_s)):
        await baselines.near(key, at_s, measure)
    assert 2 == len(measured)
    late = await baselines.near("a", now_s + MAX_AGE_S + 5, measure)
    assert (3, 3.0) == (len(measured), late.score_s)


async def test_those_who_wait_for_one_that_is_late_are_all_given_that() -> None:
    measured = list[Baseline]()

    async def measure() -> Baseline:
        measured.append(Baseline("reference.py", 1.0 + len(measured), (1.0, 2.0), ()))
        await asyncio.sleep(0)
        return measured[-1]

    baselines, now_s = Baselines(), time.monotonic()
    ended_s = [now_s - 2 * MAX_AGE_S * number for number in (4, 3, 2, 1)]  # of sources
    found = await asyncio.gather(*(baselines.near("a", at_s, measure) for at_s in ended_s))
    assert ([1.0] * 4, 1) == ([each.score_s for each in found], len(measured))


def test_of_python_it_is_the_reference_of_others_a_right_solution(tmp_path: Path) -> None:
    new_problem(tmp_path / "py", "py", Lang.PY)
    new_problem(tmp_path / "cpp", "cpp", Lang.CPP)
    name, source = baseline_source(load_problem(tmp_path / "py"))
    assert ("reference.py", "submission.py") == (name, source.name)
    assert source.text.endswith("custom_kernel = ref_kernel\n")
    assert "correct/loop.cpp" == baseline_source(load_problem(tmp_path / "cpp"))[0]


def test_a_problem_may_have_none(tmp_path: Path) -> None:
    new_problem(tmp_path / "cpp", "cpp", Lang.CPP)
    loaded = load_problem(tmp_path / "cpp")
    bare = replace(loaded, definition=replace(loaded.definition, solutions=()))
    with pytest.raises(InvalidProblem, match="has no baseline"):
        baseline_source(bare)
