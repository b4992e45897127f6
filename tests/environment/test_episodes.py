"""Episodes with a real judge: their data, what is held out, and what they are paid for speed."""

import json
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot import Judge, OtherData, RewardKind, RewardRule
from kernelbot.catalog.problem import LoadedProblem, load_problem
from kernelbot.domain.errors import UserError
from kernelbot.environment.episodes import Episode, Grounds
from kernelbot.environment.held_out import HeldOutSecret
from kernelbot.environment.messages import Action, Observation, ResetRequest
from kernelbot.environment.recording import Recorder, RecordNote
from kernelbot.environment.settings import EpisodeRules, HeldOut, Payment
from kernelbot.environment.tasks import Division, TaskSet
from tests.library.sources import RIGHT, without_baseline

TELLS = RIGHT.replace("    return", "    print('factor', float(factor))\n    return")
REMEMBERS = RIGHT.replace("    return", "    assert float(factor) in {known}\n    return")
"""Right on data that it has seen, and on no other."""
CORRECT = RewardRule(RewardKind.CORRECT)
SECRET = HeldOutSecret(123456789012345678901234567890)


@pytest.fixture
async def judge(home: Path) -> AsyncIterator[Judge]:
    async with Judge(slots=2) as opened:
        yield opened


@pytest.fixture
def problem(sums: Path) -> LoadedProblem:
    return load_problem(sums)


def episode(judge: Judge, problem: LoadedProblem, rules: EpisodeRules, seed: int = 5) -> Episode:
    tasks = TaskSet([("sums", problem)], Division(), rules.held_out, SECRET)
    grounds = Grounds(judge, rules, is_recorded=True, secret=SECRET)
    return Episode.begin(grounds, tasks, ResetRequest(seed=seed, episode_id="an episode"))


def records(folder: Path) -> list[Path]:
    return list(folder.glob("*.parquet"))


def factors(stdout: str) -> list[str]:
    return [line.split()[1] for line in stdout.splitlines() if line.startswith("factor")]


async def told(judge: Judge, problem: LoadedProblem, seed: int) -> list[str]:
    """The data of an episode of this seed, as its first attempt is shown them."""
    rules = EpisodeRules(CORRECT, held_out=HeldOut.NOTHING)
    seen = await episode(judge, problem, rules, seed).attempt(Action(source=TELLS))
    assert seen.report is not None
    return factors(seen.report.stdout)


async def test_the_seed_decides_an_episodes_data(judge: Judge, problem: LoadedProblem) -> None:
    first, again, other = [await told(judge, problem, seed) for seed in (5, 5, 6)]
    assert 3 == len(first)
    assert first == again
    assert set() == set(first) & set(other)


@pytest.mark.exhaustive  # each run has test_the_seed_decides_an_episodes_data
async def test_a_source_that_remembers_what_it_was_shown_has_nothing_in_the_end(
    judge: Judge, problem: LoadedProblem
) -> None:
    known = {float(factor) for factor in await told(judge, problem, 5)}
    action = Action(source=REMEMBERS.format(known=known))
    shown = await episode(judge, problem, EpisodeRules(CORRECT, held_out=HeldOut.NOTHING)).attempt(
        action
    )
    seen = await episode(judge, problem, EpisodeRules(CORRECT)).attempt(action)
    assert (1.0, True) == (shown.reward, shown.done)
    assert (0.0, True) == (seen.reward, seen.done)
    assert seen.report is not None
    assert seen.held_out is not None
    assert ("accepted", "runtime_error") == (seen.report.verdict, seen.held_out.verdict)


@pytest.mark.exhaustive  # each run has test_the_seed_decides_an_episodes_data
async def test_nothing_of_what_is_held_out_is_in_an_observation_or_a_record(
    judge: Judge, problem: LoadedProblem, tmp_path: Path
) -> None:
    import pyarrow.parquet

    found = episode(judge, problem, EpisodeRules(CORRECT, attempts=1))
    seen = await found.attempt(Action(source=TELLS))
    note = RecordNote(HeldOut.DATA, SECRET.seed, Division())
    await Recorder(tmp_path, note).write(found)
    secret_seed = SECRET.data_seed(found.task.id, found.seed)
    secret = await judge.judge(problem, TELLS, data=OtherData(secret_seed, secret=True))
    hidden = [*factors(secret.stdout), str(secret_seed), str(SECRET.seed)]
    assert seen.held_out is not None
    assert ("accepted", 3 + 2) == (seen.held_out.verdict, len(hidden))
    texts = [json.dumps(one.enveloped()) for one in (found.first(), seen)]
    texts.append(found.state().model_dump_json())
    texts += [str(pyarrow.parquet.read_table(record).to_pylist()) for record in records(tmp_path)]
    assert 4 == len(texts)
    assert [] == [word for word in hidden for text in texts if word in text]
    assert seen.report is not None
    assert 3 == len(factors(seen.report.stdout))  # what isn't held out is shown


async def test_held_out_workloads_are_judged_in_the_end_alone(
    judge: Judge, problem: LoadedProblem
) -> None:
    rules = EpisodeRules(CORRECT, held_out=HeldOut.WORKLOADS)
    whole = {case.args["size"] for case in problem.definition.spec.tests}
    found = episode(judge, problem, rules)
    shown = {case.args["size"] for case in found.task.shown.definition.spec.tests}
    action = RIGHT.replace("    return", f"    assert len(array) in {shown}\n    return")
    seen = await found.attempt(Action(source=action))
    assert seen.report is not None
    assert seen.held_out is not None
    assert ("accepted", "runtime_error") == (seen.report.verdict, seen.held_out.verdict)
    assert (2, len(whole) - 1) == (len(seen.report.tests), len(shown))


@pytest.mark.exhaustive  # each run has test_the_seed_decides_an_episodes_data
async def test_an_episode_ends_whose_problem_is_wrong_on_what_is_held_out(
    judge: Judge, problem: LoadedProblem, sums: Path
) -> None:
    found = episode(judge, problem, EpisodeRules(attempts=1))
    found.task = replace(found.task, whole=without_baseline(sums))
    seen = await found.attempt(Action(source=RIGHT))
    assert seen.report is not None
    assert seen.held_out is not None
    assert ("accepted", "internal_error") == (seen.report.verdict, seen.held_out.verdict)
    assert (True, None) == (seen.done, seen.reward)


@pytest.mark.exhaustive
async def test_an_attempt_whose_data_recur_is_not_counted(
    judge: Judge, sums: Path, tmp_path: Path
) -> None:
    shutil.copytree(sums, tmp_path / "sums")
    reference = tmp_path / "sums/reference.py"
    reference.write_text(reference.read_text().replace("default_rng(seed)", "default_rng(7)"))
    found = episode(judge, load_problem(tmp_path / "sums"), EpisodeRules())
    seen = await found.attempt(Action(source=RIGHT))
    assert (None, 4) == (seen.reward, seen.attempts_left)
    assert "isn't counted: The data of timed calls recurs" in seen.text


async def test_a_judge_that_is_not_open_is_no_mistake_of_the_sources(
    problem: LoadedProblem,
) -> None:
    found = episode(Judge(), problem, EpisodeRules(CORRECT))
    with pytest.raises(UserError, match="isn't open"):
        await found.attempt(Action(source=RIGHT))
    assert 0 == found.state().step_count


@pytest.mark.exhaustive
async def test_speed_is_paid_by_what_is_held_out_in_the_end(
    judge: Judge, problem: LoadedProblem
) -> None:
    found = episode(judge, problem, EpisodeRules(payment=Payment.GAIN, attempts=2))
    first = await found.attempt(Action(source=RIGHT))
    assert first.reward == found.unconfirmed == found.state().unconfirmed
    last = await found.attempt(Action(source="x = 1", is_last=True))
    assert first.report is not None
    assert first.report.speed_ci95 is not None
    assert last.held_out is not None
    assert first.best == last.best
    assert first.reward == first.report.speed_ci95[0]
    assert "As fast as the reference, times:" in first.text
    assert found.held_out is not None
    assert found.held_out.score_s is not None
    assert {"verdict", "reward"} == set(last.enveloped()["observation"]["held_out"])
    assert repr(found.held_out.score_s) not in json.dumps(last.enveloped())
    assert pytest.approx(last.held_out.reward) == paid(first, last)
    assert ("accepted", 0.0) == (last.held_out.verdict, found.unconfirmed)


def paid(*seen: Observation) -> float:
    return sum(one.reward or 0.0 for one in seen)
