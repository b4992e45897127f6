"""Which test case a save names as the first that failed."""

from kernelbot.protocol import CaseResult, Mode, Phase, PhaseResult, Verdict
from kernelbot.saves.model import Save
from tests.fakes.host import result_of
from tests.harness.jobs import SORT, a_job


def saved(*verdicts: Verdict) -> Save:
    cases = tuple(CaseResult(f"n: {n}", verdict, "") for n, verdict in enumerate(verdicts))
    result = result_of(a_job(SORT, mode=Mode.TEST), ["wrong_answer"])
    phase = PhaseResult(Phase.TEST, Verdict.WRONG_ANSWER, 0.1, cases=cases)
    return Save(1, result.__class__(**{**vars(result), "phases": (phase,)}))


def test_what_was_accepted_before_it_is_passed_over() -> None:
    found = saved(Verdict.ACCEPTED, Verdict.WRONG_ANSWER, Verdict.TIME_LIMIT).first_failing
    assert found is not None
    assert ("n: 1", Verdict.WRONG_ANSWER) == (found.spec, found.verdict)


def test_there_may_be_none() -> None:
    assert saved(Verdict.ACCEPTED).first_failing is None
    assert Save(1).first_failing is None
