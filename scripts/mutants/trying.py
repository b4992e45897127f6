"""Tries changes: in forks if that can be, and else in copies of the tree."""

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from scripts.mutants.choice import Choice
from scripts.mutants.exchange import is_in_function
from scripts.mutants.forked import ENDED, UNFIT, Ended, Task, run_in_forks
from scripts.mutants.lines import Kept
from scripts.mutants.operators import Mutant
from scripts.mutants.recording import record
from scripts.mutants.trial import Copies, Outcome, Trial, attempt, confirmed

_SLOWER = 10
"""A busy machine may take so many times as long as a processor took."""
_IN_COPY = 5
_SAID_EVERY = 50


@dataclass(frozen=True)
class Limits:
    """How much is tried of one change, and of how many at once."""

    jobs: int
    tests_s: float
    """Tests are chosen until they take so long without a change."""
    hangs_s: float
    """Tests that take so much longer in a fork are ended, and five times as much in a copy."""


def tried(
    tree: Path, mutants: dict[Mutant, tuple[str, ...]], kept: Kept, limits: Limits
) -> Iterator[Trial]:
    """Yield what came of each change, as it ends. With each stand files of tests: some of these
    tests are chosen."""
    files = sorted(set(itertools.chain.from_iterable(mutants.values())))
    choice = Choice(tree, record(tree, files, kept, limits.jobs), limits.tests_s)
    tasks = []
    in_copies: dict[Mutant, tuple[str, ...]] = {}
    for mutant in mutants:
        inside = is_in_function((tree / mutant.module).read_bytes(), mutant)
        tests = choice.executing(mutant, mutants[mutant]) if inside else ()
        if tests:
            limit_s = limits.hangs_s + _SLOWER * choice.took_s(tests)
            tasks.append(Task(mutant, tests, limit_s))
        else:
            in_copies[mutant] = choice.reaching(mutant, mutants[mutant])
    for ended in _confirmed(tree, tasks, limits):
        if isinstance(ended, Trial):
            yield ended
        elif ended.mutant is not None:
            # Without parameters, which may be what was changed.
            names = (name.partition("[")[0] for name in ended.tests)
            in_copies[ended.mutant] = tuple(dict.fromkeys(names))
    yield from _in_copies(tree, in_copies, limits)


def _confirmed(tree: Path, tasks: list[Task], limits: Limits) -> Iterator[Trial | Task]:
    """What came of each change in forks; the task alone if a copy has to tell: the change can't be
    made in a fork, or no test noticed, and some may have called the function when they were loaded.
    A test that failed or that didn't end says nothing unless it passes without the change."""
    to_confirm: list[Ended] = []
    for number, ended in enumerate(run_in_forks(tree, tasks, limits.jobs), start=1):
        if number % _SAID_EVERY == 0:
            print(f"Tried {number} of {len(tasks)} in forks.", flush=True)
        if ended.code in (0, UNFIT):
            yield ended.task
        else:
            to_confirm.append(ended)
    doubtful = [one.task for one in to_confirm if not one.test]
    names = sorted({one.test for one in to_confirm if one.test})
    again = [Task(None, (name,), limits.hangs_s) for name in names]
    again += [replace(task, mutant=None) for task in doubtful]
    broken = {ended.task.tests for ended in run_in_forks(tree, again, limits.jobs) if ended.code}
    for one in to_confirm:
        assert one.task.mutant is not None
        tests = (one.test,) if one.test else one.task.tests
        outcome = Outcome.TIMEOUT if one.code == ENDED else Outcome.KILLED
        yield Trial(one.task.mutant, Outcome.UNCLEAR if tests in broken else outcome, one.test)


def _in_copies(
    tree: Path, mutants: dict[Mutant, tuple[str, ...]], limits: Limits
) -> Iterator[Trial]:
    if not mutants:
        return
    trials = []
    with TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(limits.jobs) as pool:
        copies = Copies(tree, Path(folder), limits.jobs)
        futures = [
            pool.submit(attempt, copies, mutant, tests, _IN_COPY * limits.hangs_s)
            for mutant, tests in mutants.items()
        ]
        try:
            for future in as_completed(futures):
                trials.append(future.result())
                if trials[-1].outcome is Outcome.SURVIVED:
                    yield trials[-1]
        finally:
            pool.shutdown(cancel_futures=True)
        left = [trial for trial in trials if trial.outcome is not Outcome.SURVIVED]
        yield from confirmed(copies, left, _IN_COPY * limits.hangs_s * limits.jobs)
