"""Two workers and the runs between them, in any order: what one may do, the other may not, each run
ends once, and none is lost."""

import asyncio
from dataclasses import dataclass
from typing import LiteralString

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)
from hypothesis.strategies import integers, sampled_from

from kernelbot.domain.errors import Conflict
from kernelbot.domain.states import MAX_ATTEMPTS, RunState
from kernelbot.protocol import Fault, Mode, Verdict
from kernelbot.runs.claims import MAX_TAKEOVERS, Claim
from kernelbot.runs.lifecycle import RunLifecycle
from tests.fakes.host import result_of
from tests.support.judging import judging
from tests.support.world import World, open_world

# Each run has test_two_workers_judge_everything_once (worker/test_durability.py)
pytestmark = pytest.mark.exhaustive

_WORKERS = ("one", "other")
_VERDICTS = ("accepted", "wrong_answer", "internal_error")


@dataclass
class _Run:
    """What has become of a run. `owner` None: nobody judges it."""

    submission_id: int
    state: RunState = RunState.QUEUED
    verdict: str | None = None
    attempt_id: int | None = None
    owner: str | None = None
    silent: bool = False
    """Whether its owner is taken for dead."""
    takeovers: int = 0
    losses: int = 0

    def let_go(self, state: RunState, verdict: str | None = None) -> None:
        self.state, self.verdict = state, verdict
        self.attempt_id, self.owner, self.silent, self.takeovers = None, None, False, 0

    def lose(self) -> None:
        self.losses += 1
        if self.losses < MAX_ATTEMPTS:
            self.let_go(RunState.QUEUED)
        else:
            self.let_go(RunState.FINISHED, "internal_error")


@dataclass(frozen=True)
class _Held:
    """A claim, and who made it: it may be the other's by now, or over."""

    worker: str
    claim: Claim


class Workers(RuleBasedStateMachine):
    """What the database says is what a few lines of Python say."""

    held = Bundle("held")

    def __init__(self, loop: asyncio.Runner, world: World, judge: RunLifecycle) -> None:
        super().__init__()
        self._loop, self._world, self._judge = loop, world, judge
        self._runs: dict[int, _Run] = {}
        self._loop.run(self._do("DELETE FROM submissions"))

    async def _do(self, statement: LiteralString) -> None:
        async with self._world.database.write() as session:
            await session.do(statement)

    def _mine(self, held: _Held) -> _Run | None:
        run = self._runs[held.claim.run_id]
        mine = (run.attempt_id, run.owner) == (held.claim.attempt_id, held.worker)
        return run if mine else None

    @initialize(target=held)
    def begin(self) -> object:
        """Each has a run: from here on they may meet at every step."""
        for _ in _WORKERS:
            self._submit()
        return multiple(*filter(None, map(self._claim, _WORKERS)))

    @rule()
    def submit(self) -> None:
        self._submit()

    def _submit(self) -> None:
        new = self._loop.run(self._world.submit(mode=Mode.TEST))
        self._runs[new.runs[0].id] = _Run(new.id)

    @rule(target=held, worker=sampled_from(_WORKERS))
    def claim(self, worker: str) -> object:
        claimed = self._claim(worker)
        return multiple() if claimed is None else claimed

    def _claim(self, worker: str) -> _Held | None:
        """What was left comes first; an attempt that ended too many workers is lost instead."""
        left = [number for number, run in sorted(self._runs.items()) if run.silent]
        queued = [n for n, run in self._runs.items() if run.state is RunState.QUEUED]
        claim = self._loop.run(self._judge.claim("CPU", worker))
        deadly = bool(left) and self._runs[left[0]].takeovers == MAX_TAKEOVERS
        assert (not left and not queued) or deadly == (claim is None)
        if deadly:
            self._runs[left[0]].lose()
            self._no_pause()
        if claim is None:
            return None
        run = self._runs[claim.run_id]
        if left:
            assert (left[0], run.attempt_id) == (claim.run_id, claim.attempt_id)
            run.owner, run.silent, run.takeovers = worker, False, run.takeovers + 1
        else:
            assert claim.run_id in queued
            run.state = RunState.DISPATCHED
            run.attempt_id, run.owner = claim.attempt_id, worker
        return _Held(worker, claim)

    @precondition(lambda self: any(run.owner and not run.silent for run in self._runs.values()))
    @rule(worker=sampled_from(_WORKERS))
    def falls_silent(self, worker: str) -> None:
        followed = [run for run in self._runs.values() if run.owner == worker]
        assert len(followed) == self._loop.run(self._judge.expire([worker]))
        for run in followed:
            run.silent = True

    @rule(worker=sampled_from(_WORKERS), others=integers(0, 3))
    def heartbeat(self, worker: str, others: int) -> None:
        """It names attempts that are another's, too. What it has is its own again."""
        everything = {run.attempt_id for run in self._runs.values() if run.attempt_id is not None}
        own = {run.attempt_id for run in self._runs.values() if run.owner == worker}
        followed = everything | set(range(others))
        answer = self._loop.run(self._judge.heartbeat(worker, "node", [], followed, {}))
        assert own == answer
        for run in self._runs.values():
            if run.owner == worker:
                run.silent = False

    @rule(held=held)
    def launch(self, held: _Held) -> None:
        answer = self._loop.run(self._judge.launched(held.claim, held.worker, "handle"))
        assert (self._mine(held) is not None) == answer

    @rule(held=held)
    def progress(self, held: _Held) -> None:
        run = self._mine(held)
        answer = self._loop.run(self._judge.progressed(held.claim, held.worker, []))
        assert (run is not None) == answer
        if run is not None:
            run.state = RunState.RUNNING

    @rule(held=held)
    def ask(self, held: _Held) -> None:
        answer = self._loop.run(self._judge.still_open(held.claim, held.worker))
        is_open = held.claim.attempt_id == self._runs[held.claim.run_id].attempt_id
        assert (self._mine(held) is not None) == answer
        assert is_open == self._loop.run(self._judge.is_open(held.claim))

    @rule(held=held, verdict=sampled_from(_VERDICTS))
    def finish(self, held: _Held, verdict: str) -> None:
        """It may be the second time."""
        run = self._mine(held)
        result = result_of(held.claim.spec, [verdict])
        answer = self._loop.run(self._judge.finish(held.claim, held.worker, result))
        assert (run is not None) == answer
        if run is not None:
            run.let_go(RunState.FINISHED, verdict)

    @rule(held=held)
    def lose(self, held: _Held) -> None:
        run = self._mine(held)
        lost = self._judge.lost(held.claim, held.worker, "it is gone", Fault.SCHEDULER)
        assert (run is not None) == self._loop.run(lost)
        if run is not None:
            run.lose()
            self._no_pause()

    @rule(held=consumes(held))
    def give_back(self, held: _Held) -> None:
        run = self._mine(held)
        self._loop.run(self._judge.give_back(held.claim, held.worker, "it stopped"))
        if run is not None:
            run.let_go(RunState.QUEUED)

    @rule(index=integers(0, 100))
    def cancel(self, index: int) -> None:
        """A worker learns of it when it next says something."""
        run = list(self._runs.values())[index % len(self._runs)]
        services, ada = self._world.services, self._world.ada.user
        cancelled = services.submissions.cancel(ada, run.submission_id)
        try:
            self._loop.run(cancelled)
        except Conflict:
            assert RunState.FINISHED is run.state
        else:
            assert RunState.FINISHED is not run.state
            run.let_go(RunState.CANCELLED)

    def _no_pause(self) -> None:
        self._loop.run(self._do("UPDATE runs SET ready_at = NULL"))

    @invariant()
    def all_is_as_expected(self) -> None:
        expected = {
            number: (run.state, run.verdict, run.owner, 1 if run.verdict else 0)
            for number, run in self._runs.items()
        }
        assert expected == self._loop.run(self._found())

    async def _found(self) -> dict[int, tuple[RunState, str | None, str | None, int]]:
        """By run: its state, its verdict, the owner of its open attempt, and how often those who
        follow its submission were told that it finished."""
        async with self._world.database.read() as session:
            rows = await session.all(
                "SELECT r.id, r.state, r.verdict, a.owner, (SELECT count(*) FROM events e"
                " WHERE e.run_id = r.id AND e.kind = 'finished') AS told FROM runs r"
                " LEFT JOIN attempts a ON a.run_id = r.id AND a.state IN ('launching', 'running')"
            )
        return {
            row["id"]: (RunState(row["state"]), row["verdict"], row["owner"], row["told"])
            for row in rows
        }

    def teardown(self) -> None:
        """Both die. A third finds all that isn't over, and nothing else."""
        self._loop.run(self._judge.expire(list(_WORKERS)))
        for _ in range(len(self._runs) * (MAX_ATTEMPTS + 1)):
            claim = self._loop.run(self._judge.claim("CPU", "third"))
            if claim is not None:
                result = result_of(claim.spec, [Verdict.ACCEPTED])
                assert self._loop.run(self._judge.finish(claim, "third", result))
            self._no_pause()
        ends = {state for state, *_ in self._loop.run(self._found()).values()}
        assert ends <= {RunState.FINISHED, RunState.CANCELLED}


def test_two_workers_never_both_judge_a_run_and_lose_none(database_url: str) -> None:
    bounds = settings(
        max_examples=15,
        stateful_step_count=25,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    with asyncio.Runner() as loop:
        opened = open_world(database_url)
        world = loop.run(opened.__aenter__())
        try:
            loop.run(world.board())
            judge = judging(world)

            def workers() -> Workers:
                return Workers(loop, world, judge)

            run_state_machine_as_test(workers, settings=bounds)  # type: ignore[arg-type]  # may be a function
        finally:
            loop.run(opened.__aexit__(None, None, None))
