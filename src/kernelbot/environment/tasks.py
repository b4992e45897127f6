"""The tasks of a server: problems, divided into two splits by their ids."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from kernelbot.catalog.problem import LoadedProblem
from kernelbot.domain.errors import InvalidProblem, NotFound, UserError
from kernelbot.environment.held_out import HeldOutSecret
from kernelbot.environment.settings import HeldOut
from kernelbot.protocol import Case, Floor, ProblemSpec

T = TypeVar("T")
_HELD_OUT_SHARE = 3


class Split(StrEnum):
    """What a task is for."""

    TRAIN = "train"
    TEST = "test"


@dataclass(frozen=True)
class Division:
    """How tasks are divided: the same tasks are always divided alike."""

    test_share: float = 0.0
    """About this share of the tasks is for testing alone."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises `UserError` for a share that can't be."""
        if not 0 <= self.test_share <= 1:
            raise UserError("The share of tasks for testing is from 0 to 1.")

    def split_of(self, task: str) -> Split:
        """By the hash of its id and the seed: other tasks change nothing."""
        drawn = int.from_bytes(_hash(self.seed, task)[:8], "big") / (1 << 64)
        return Split.TEST if drawn < self.test_share else Split.TRAIN


@dataclass(frozen=True)
class Task:
    """A problem and its place."""

    id: str
    """The problem's name; with the folders above it if it is one of a tree."""
    split: Split
    index: int
    shown: LoadedProblem
    """What attempts are judged by."""
    whole: LoadedProblem
    """The problem as it is, by which an episode's best is judged."""

    @property
    def spec(self) -> ProblemSpec:
        return self.whole.definition.spec


class TaskSet:
    """Tasks that can be found by split and index, or by id."""

    def __init__(
        self,
        problems: Iterable[tuple[str, LoadedProblem]],
        division: Division,
        held_out: HeldOut,
        secret: HeldOutSecret,
    ) -> None:
        """`problems`: with their ids. `secret` decides which cases are held out. Raises
        `InvalidProblem` if there is no problem, or if two have one id."""
        self._tasks: dict[Split, list[Task]] = {split: [] for split in Split}
        self._by_id: dict[str, Task] = {}
        hidden = secret if held_out is HeldOut.WORKLOADS else None
        for name, loaded in problems:
            self._add(name, loaded, division, hidden)
        if not self._by_id:
            raise InvalidProblem("There is no problem, so there is no task.")

    def _add(
        self, name: str, loaded: LoadedProblem, division: Division, secret: HeldOutSecret | None
    ) -> None:
        if name in self._by_id:
            raise InvalidProblem(
                f"Two problems are called {name!r}.",
                hint="Name the folder that both lie in: their paths tell them apart.",
            )
        split = division.split_of(name)
        shown = loaded
        if secret is not None:
            spec = _without_held_out(loaded.definition.spec, secret)
            shown = replace(loaded, definition=replace(loaded.definition, spec=spec))
        task = Task(name, split, len(self._tasks[split]), shown, loaded)
        self._tasks[split].append(task)
        self._by_id[name] = task

    def __len__(self) -> int:
        return len(self._by_id)

    @property
    def splits(self) -> tuple[Split, ...]:
        return tuple(split for split in Split if self._tasks[split])

    def in_split(self, split: str) -> Sequence[Task]:
        """The tasks of a split, by index. Raises `NotFound` for one that has none."""
        found = next((one for one in self.splits if one == split), None)
        if found is None:
            known = ", ".join(self.splits)
            raise NotFound(
                f"There is no split {split[:100]!r} with tasks.", hint=f"There is: {known}."
            )
        return self._tasks[found]

    def at(self, split: str, index: int) -> Task:
        """Raises `NotFound`, and `UserError` if there is no such index."""
        tasks = self.in_split(split)
        if not 0 <= index < len(tasks):
            raise UserError(
                f"The split {str(split)[:100]!r} has no task {index}.",
                hint=f"Its tasks are 0 to {len(tasks) - 1}.",
            )
        return tasks[index]

    def named(self, task: str) -> Task:
        """Raises `NotFound`."""
        if task not in self._by_id:
            raise NotFound(f"There is no task {task[:100]!r}.")
        return self._by_id[task]

    def drawn(self, split: str | None, seed: int) -> Task:
        """A task of a split (None: of the first that has tasks), by the seed. Raises `NotFound`."""
        tasks = self.in_split(split or self.splits[0])
        return tasks[int.from_bytes(_hash(seed, "task")[:8], "big") % len(tasks)]


def _without_held_out(spec: ProblemSpec, secret: HeldOutSecret) -> ProblemSpec:
    tests = _shown(spec.tests, spec.name, secret)
    workloads = _shown(spec.benchmarks, spec.name, secret)
    floors: tuple[Floor | None, ...] = ()
    if spec.floors:
        floors = tuple(spec.floors[index] for index in workloads)
    return replace(
        spec,
        tests=_chosen(spec.tests, tests),
        benchmarks=_chosen(spec.benchmarks, workloads),
        floors=floors,
    )


def _shown(cases: Sequence[Case], name: str, secret: HeldOutSecret) -> list[int]:
    """The indices of those that attempts are judged by: two thirds, and one at least."""
    count = len(cases)
    held_out = max(1, count // _HELD_OUT_SHARE) if count > 1 else 0
    by_rank = sorted(range(count), key=lambda index: secret.rank(name, cases[index].spec))
    return sorted(by_rank[held_out:])


def _chosen(values: Sequence[T], indices: Sequence[int]) -> tuple[T, ...]:
    return tuple(values[index] for index in indices)


def _hash(seed: int, text: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{text}".encode()).digest()
