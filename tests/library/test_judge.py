"""Sources of all kinds, judged side by side by real hosts."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kernelbot import Judge
from kernelbot.domain.errors import InvalidProblem, InvalidSubmission, UserError
from kernelbot.library import baselines
from kernelbot.library.sources import Source
from kernelbot.protocol import Fault, Mode, Verdict
from tests.library.sources import HOSTILE, REFUSED, RIGHT, WRONG, without_baseline

NAMES = ("right", "wrong", *HOSTILE, *REFUSED)


@pytest.fixture
async def judge(home: Path, open_files: None) -> AsyncIterator[Judge]:
    async with Judge(slots=2) as opened:
        yield opened


@pytest.mark.timeout(400)  # beside others an endless loop has its limit only after minutes
@pytest.mark.exhaustive
async def test_each_source_has_a_report_whatever_it_does(judge: Judge, sums: Path) -> None:
    sources: dict[str, Source] = {"right": RIGHT, "wrong": WRONG, **HOSTILE, **REFUSED}
    pairs = [(sums, sources[name]) for name in NAMES]
    reports = {NAMES[report.number]: report async for report in judge.many(pairs)}
    assert {
        "right": Verdict.ACCEPTED,
        "wrong": Verdict.WRONG_ANSWER,
        "hangs": Verdict.TIME_LIMIT,
        "floods": Verdict.OUTPUT_LIMIT,
        "kills": Verdict.RUNTIME_ERROR,
        "kills itself": Verdict.RUNTIME_ERROR,
        "NUL": Verdict.COMPILE_ERROR,
        "empty": Verdict.RUNTIME_ERROR,
        "no kernel": Verdict.RUNTIME_ERROR,
        "raises": Verdict.RUNTIME_ERROR,
        "10 MB": Verdict.COMPILE_ERROR,
        "no UTF-8": Verdict.COMPILE_ERROR,
        "surrogates": Verdict.COMPILE_ERROR,
        "none": Verdict.COMPILE_ERROR,
        "no file": Verdict.COMPILE_ERROR,
        "no path": Verdict.COMPILE_ERROR,
    } == {name: report.verdict for name, report in reports.items()}
    assert {Fault.AUTHOR} == {report.fault for report in reports.values()} - {None}
    assert [] == [name for name, one in reports.items() if not one.accepted and not one.message]


async def test_a_report_has_the_tests_with_what_the_checker_said(judge: Judge, sums: Path) -> None:
    report = await judge.judge(str(sums), WRONG)
    assert (3, 3, False, "", 0.0) == (
        report.tests_total,
        len(report.tests),
        report.accepted,
        report.rule_violation,
        report.passed_share,
    )
    assert "elements are off" in report.tests[0].message
    assert "wrong answer" in str(report)
    assert "wrong_answer" == report.document()["verdict"]


async def test_times_have_intervals_and_are_compared_with_the_reference(
    judge: Judge, sums: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baselines, "MAX_AGE_S", 600)
    report = await judge.judge(sums, RIGHT, mode=Mode.BENCHMARK, baseline=True)
    again = await judge.judge(sums, RIGHT + "# 2", mode="benchmark", baseline=True)
    assert report.baseline is not None
    assert report.score_s is not None
    assert report.score_ci95_s is not None
    assert report.speed_ci95 is not None
    assert (2, "reference.py") == (len(report.workloads), report.baseline.source)
    assert report.score_ci95_s[0] <= report.score_s <= report.score_ci95_s[1]
    assert report.speed_ci95[0] == report.reward("speed")
    assert again.baseline is report.baseline  # it is recent enough


# Each run has test_times_have_intervals_and_are_compared_with_the_reference.
@pytest.mark.exhaustive
async def test_a_baseline_does_not_wait_behind_other_sources(home: Path, sums: Path) -> None:
    async with Judge(slots=1) as judge:
        compared = asyncio.create_task(judge.judge(sums, RIGHT, mode=Mode.BENCHMARK, baseline=True))
        others = [asyncio.create_task(judge.judge(sums, f"{RIGHT}# {n}")) for n in range(4)]
        assert (await compared).baseline is not None
        assert 1 >= len([task for task in others if task.done()])
        assert {Verdict.ACCEPTED} == {(await task).verdict for task in others}


# Each run has test_an_accepted_file_as_json (test_run.py).
@pytest.mark.exhaustive
async def test_a_baseline_that_fails_the_problems_own_tests_is_the_problems_mistake(
    judge: Judge, sums: Path, tmp_path: Path
) -> None:
    broken = copied(sums, tmp_path / "broken")
    reference = broken / "reference.py"
    reference.write_text(
        reference.read_text()
        .replace("def ref_kernel(data", "def right(data")
        .replace("expected = ref_kernel", "expected = right")
        + "\n\ndef ref_kernel(data):\n    return right(data) + 1\n"
    )
    with pytest.raises(InvalidProblem, match=r"The baseline of broken \(reference.py\)"):
        await judge.judge(broken, RIGHT, mode=Mode.BENCHMARK, baseline=True)


# Each run has test_times_have_intervals_and_are_compared_with_the_reference.
@pytest.mark.exhaustive
async def test_a_speed_that_may_be_of_remembered_answers_has_no_reward(
    judge: Judge, sums: Path, tmp_path: Path
) -> None:
    alike = copied(sums, tmp_path / "alike")
    reference = alike / "reference.py"
    reference.write_text(reference.read_text().replace("default_rng(seed)", "default_rng(7)"))
    report = await judge.judge(alike, RIGHT, mode=Mode.BENCHMARK, baseline=True)
    assert "The data of timed calls recurs" in report.recurring_data
    assert (1.0, None) == (report.reward("correct"), report.reward("speed"))


def copied(folder: Path, to: Path) -> Path:
    to.mkdir()
    for file in folder.iterdir():
        if file.is_file():
            (to / file.name).write_bytes(file.read_bytes())
    return to


async def test_a_problem_that_is_not_there_ends_the_series(judge: Judge, sums: Path) -> None:
    pairs = [(sums, RIGHT), (sums / "nope", RIGHT), (sums, RIGHT)]
    with pytest.raises(InvalidProblem, match="There is no folder"):
        _ = [report async for report in judge.many(pairs)]
    assert Verdict.ACCEPTED == (await judge.judge(sums, RIGHT)).verdict


@pytest.mark.parametrize("name", REFUSED)
async def test_one_source_that_no_door_takes_is_refused(
    judge: Judge, sums: Path, name: str
) -> None:
    with pytest.raises(InvalidSubmission):
        await judge.judge(sums, REFUSED[name])


async def test_a_file_of_another_language_is_refused(
    judge: Judge, sums: Path, tmp_path: Path
) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(RIGHT)
    with pytest.raises(InvalidSubmission, match="is solved in Python"):
        await judge.judge(sums, file)


async def test_what_can_not_be_asked_for_is_said_at_once(judge: Judge, sums: Path) -> None:
    for asked in ({"mode": "fast"}, {"device": "H100"}, {"baseline": True}):
        with pytest.raises(UserError):
            await judge.judge(sums, RIGHT, **asked)


async def test_what_is_no_source_is_the_programs_mistake_and_ends_a_series(
    judge: Judge, sums: Path
) -> None:
    wrong: Source = ["x"]  # type: ignore[assignment]  # programs aren't all checked
    with pytest.raises(UserError, match="A source is a text, bytes or a Path, and not 'list'"):
        _ = [report async for report in judge.many([(sums, wrong)])]


async def test_a_problem_without_a_baseline_is_refused_before_anything_runs(
    judge: Judge, sums: Path
) -> None:
    bare = without_baseline(sums)
    with pytest.raises(InvalidProblem, match="has no baseline"):
        await judge.judge(bare, WRONG, mode=Mode.BENCHMARK, baseline=True)
    with pytest.raises(InvalidProblem, match="has no baseline"):
        _ = [
            report async for report in judge.many([(bare, WRONG)], mode="benchmark", baseline=True)
        ]


async def test_a_judge_has_devices_and_slots_and_is_used_in_its_block(
    home: Path, sums: Path
) -> None:
    with pytest.raises(UserError, match="one slot"):
        Judge(slots=0)
    for devices in ("H100", ()):
        with pytest.raises(UserError, match="device"):
            async with Judge(devices):
                pass
    with pytest.raises(UserError, match="isn't open"):
        await Judge().judge(sums, RIGHT)


async def test_identical_sources_are_judged_once_if_that_is_asked_for(
    home: Path, sums: Path
) -> None:
    pairs = [(sums, RIGHT), (sums, WRONG), (sums, RIGHT), (sums, RIGHT)]
    for dedupe, results in ((True, 2), (False, 4)):
        async with Judge(slots=2, dedupe=dedupe) as judge:
            reports = [report async for report in judge.many(pairs)]
        assert results == len({id(report.result) for report in reports})
        assert [0, 1, 2, 3] == sorted(report.number for report in reports)
