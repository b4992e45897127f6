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
from scripts.mutants.trial import Copies, Outcome, Trial, attempt

_SLOWER = 10
"""A busy machine may take so many times as long as a processor took."""
_IN_COPY = 5
_SAID_EVERY = 50
_SHOWN = 60


@dataclass(frozen=True)
class Limits:
    """How much is tried of one change, and of how many at once."""

    jobs: int
    tests_s: float
    """Tests are chosen until they take so long without a change."""
    hangs_s: float
    """Tests that take so much longer in a fork are ended, and five times as much in a copy."""

    def fork_s(self, took_s: float) -> float:
        """When tests that took so long are ended in a fork."""
        return self.hangs_s + _SLOWER * took_s

    def copy_s(self, took_s: float) -> float:
        """When they are ended in a copy."""
        return _IN_COPY * self.hangs_s + _SLOWER * took_s


def tried(
    tree: Path, mutants: dict[Mutant, tuple[str, ...]], kept: Kept, limits: Limits
) -> Iterator[Trial]:
    """Yield what came of each change, as it ends. With each stand files of tests: some of these
    tests are chosen."""
    files = sorted(set(itertools.chain.from_iterable(mutants.values())))
    choice = Choice(tree, record(tree, files, kept, limits.jobs), limits.tests_s)
    tasks = []
    in_copies: list[Task] = []
    for mutant in mutants:
        inside = is_in_function((tree / mutant.module).read_bytes(), mutant)
        tests = choice.executing(mutant, mutants[mutant]) if inside else ()
        if tests:
            tasks.append(Task(mutant, tests, limits.fork_s(choice.took_s(tests))))
        else:
            tests = choice.reaching(mutant, mutants[mutant])
            in_copies.append(Task(mutant, tests, limits.copy_s(choice.took_s(tests))))
    for ended in _confirmed(tree, tasks, limits):
        if isinstance(ended, Trial):
            yield ended
        elif ended.mutant is not None:
            # Without parameters, which may be what was changed; and after those that may have
            # executed it only when they were loaded.
            near = choice.reaching(ended.mutant, mutants[ended.mutant])
            executing = (name.partition("[")[0] for name in ended.tests)
            tests = tuple(dict.fromkeys([*near, *executing]))
            in_copies.append(Task(ended.mutant, tests, limits.copy_s(choice.took_s(tests))))
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
            if ended.code == 0 and (mutant := ended.task.mutant):
                change = f"{mutant.before[:_SHOWN]!r} -> {mutant.after[:_SHOWN]!r}"
                print(f"Left for a copy: {mutant.module}:{mutant.line} {change}", flush=True)
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


def _in_copies(tree: Path, tasks: list[Task], limits: Limits) -> Iterator[Trial]:
    if not tasks:
        return
    with TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(limits.jobs) as pool:
        copies = Copies(tree, Path(folder), limits.jobs)
        futures = [
            pool.submit(attempt, copies, task.mutant, task.tests, task.limit_s)
            for task in tasks
            if task.mutant is not None
        ]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)
