"""Tasks: how they are divided, found, and what of their cases is held out."""

from dataclasses import replace

import pytest

from kernelbot.catalog.problem import LoadedProblem, load_problem
from kernelbot.domain.errors import InvalidProblem, NotFound, UserError
from kernelbot.environment.held_out import HeldOutSecret
from kernelbot.environment.settings import HeldOut
from kernelbot.environment.tasks import Division, Split, Task, TaskSet
from kernelbot.protocol import Floor
from tests.environment.examples import EXAMPLES

NAMES = [f"problem{number}" for number in range(200)]


@pytest.fixture(scope="module")
def sort() -> LoadedProblem:
    return load_problem(EXAMPLES / "sort_np")


def tasks_of(sort: LoadedProblem, names: list[str], division: Division) -> TaskSet:
    return TaskSet([(name, sort) for name in names], division, HeldOut.NOTHING, HeldOutSecret(1))


def held_out_of(problem: LoadedProblem, secret: HeldOutSecret) -> Task:
    """With a third of its cases held out."""
    return TaskSet([("a", problem)], Division(), HeldOut.WORKLOADS, secret).named("a")


def test_which_cases_are_held_out_is_a_secret_that_gives_the_same_again(
    sort: LoadedProblem,
) -> None:
    def shown(secret: HeldOutSecret) -> str:
        return repr(held_out_of(sort, secret).shown.definition.spec.tests)

    assert shown(HeldOutSecret(7)) == shown(HeldOutSecret(7))
    assert len({shown(HeldOutSecret()) for _ in range(20)}) > 1


def test_the_secret_has_a_range_and_is_not_shown() -> None:
    for wrong in (-1, 1 << 128):
        with pytest.raises(UserError, match=r"from 0 to 2\^128"):
            HeldOutSecret(wrong)
    assert "12345" not in repr(HeldOutSecret(12345))


def test_tasks_are_divided_by_their_ids_and_the_seed_alone(sort: LoadedProblem) -> None:
    division = Division(test_share=0.25, seed=7)
    whole = {task.id for task in tasks_of(sort, NAMES, division).in_split("test")}
    half = {task.id for task in tasks_of(sort, NAMES[::-2], division).in_split("test")}
    other = {task.id for task in tasks_of(sort, NAMES, replace(division, seed=8)).in_split("test")}
    assert 30 < len(whole) < 70
    assert half == whole & set(NAMES[::-2])
    assert whole != other


def test_without_a_share_for_testing_there_is_one_split(sort: LoadedProblem) -> None:
    assert (Split.TRAIN,) == tasks_of(sort, NAMES, Division()).splits
    assert (Split.TEST,) == tasks_of(sort, NAMES, Division(test_share=1)).splits


def test_a_task_is_found_by_split_and_index_and_by_its_id(sort: LoadedProblem) -> None:
    tasks = tasks_of(sort, NAMES, Division())
    assert NAMES[3] == tasks.at("train", 3).id
    assert 3 == tasks.named(NAMES[3]).index
    for index in (-1, len(NAMES)):
        with pytest.raises(UserError, match="The split 'train' has no task"):
            tasks.at(Split.TRAIN, index)
    for nowhere in (
        lambda: tasks.at("test", 0),
        lambda: tasks.named("x"),
        lambda: tasks.in_split(""),
    ):
        with pytest.raises(NotFound):
            nowhere()


def test_a_task_is_drawn_by_the_seed(sort: LoadedProblem) -> None:
    tasks = tasks_of(sort, NAMES, Division())
    drawn = {seed: tasks.drawn(None, seed).id for seed in range(50)}
    assert drawn == {seed: tasks.drawn("train", seed).id for seed in range(50)}
    assert len(set(drawn.values())) > 20


def test_two_tasks_have_two_ids_and_there_is_one_at_least(sort: LoadedProblem) -> None:
    with pytest.raises(InvalidProblem, match="Two problems are called 'x'"):
        tasks_of(sort, ["x", "x"], Division())
    with pytest.raises(InvalidProblem, match="There is no problem"):
        tasks_of(sort, [], Division())


def test_a_third_of_the_cases_is_held_out_and_the_floors_of_others_stay_theirs(
    sort: LoadedProblem,
) -> None:
    spec = sort.definition.spec
    floors = tuple(Floor(flops=float(case.args["size"])) for case in spec.benchmarks)  # type: ignore[arg-type]  # a number, as all sizes
    known = replace(sort, definition=replace(sort.definition, spec=replace(spec, floors=floors)))
    task = held_out_of(known, HeldOutSecret(1))
    shown = task.shown.definition.spec
    assert (4, 1) == (len(shown.tests), len(shown.benchmarks))
    assert set(map(repr, shown.tests)) < set(map(repr, spec.tests))
    assert [case.args["size"] for case in shown.benchmarks] == [
        floor.flops for floor in shown.floors if floor
    ]
    assert spec.tests == task.spec.tests


def test_a_single_case_is_never_held_out(sort: LoadedProblem) -> None:
    spec = replace(sort.definition.spec, tests=sort.definition.spec.tests[:1])
    known = replace(sort, definition=replace(sort.definition, spec=spec))
    task = held_out_of(known, HeldOutSecret(1))
    assert spec.tests == task.shown.definition.spec.tests


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_that_cannot_be_is_refused(share: float) -> None:
    with pytest.raises(UserError, match="from 0 to 1"):
        Division(share)
