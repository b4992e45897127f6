"""Whose fault an end, a reply or a time is, at the bounds of what is allowed."""

import signal
import time

import pytest

from kernelbot.harness.words.failures import (
    AuthorFailure,
    blaming,
    claimed,
    death,
    expect_reply,
    expect_room,
    garbage,
    more_time_s,
    out_of_memory,
    out_of_processor_time,
    output_size,
    refuse,
    too_much_output,
    while_compiling,
    with_limit,
    written_late,
)
from kernelbot.harness.words.runner_messages import (
    Done,
    IsReady,
    Loaded,
    RefusalReason,
    RequestRefused,
    ReturnedInArena,
)
from kernelbot.harness.words.sandbox import RunnerExit, SandboxUnavailable
from kernelbot.protocol import Limits, Phase, Verdict

LIMITS = Limits(memory_bytes=1 << 20, cpu_time_s=10.0, output_limit_bytes=77)
NOW_S = 1000.0
LONGEST_NS, LATEST_NS = 10**15, 1 << 62


@pytest.fixture
def at_noon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: NOW_S)


def test_a_failure_says_nothing_that_nobody_has_said() -> None:
    expected = {
        "verdict": Verdict.WRONG_ANSWER,
        "message": "wrong",
        "evidence": "",
        "fatal": True,
        "disputable": False,
        "of_opponent": False,
        "waited_s": 0.0,
        "kept_waiting_s": 0.0,
        "had_s": 0.0,
        "excuse": "",
        "is_gpu_fault": False,
    }
    assert expected == vars(AuthorFailure(Verdict.WRONG_ANSWER, "wrong"))


@pytest.mark.parametrize("opponent", [False, True])
def test_within_a_block_a_failure_is_one_sides(opponent: bool) -> None:
    error = AuthorFailure(Verdict.WRONG_ANSWER, "wrong")
    error.of_opponent = not opponent
    with pytest.raises(AuthorFailure) as raised, blaming(opponent=opponent):
        raise error
    assert opponent is raised.value.of_opponent


def ended(
    *,
    code: int | None = None,
    by: int | None = None,
    full: bool = False,
    cpu_time_s: float = 0.0,
    rank: int | None = None,
) -> AuthorFailure:
    found = death(RunnerExit(code, by, full, cpu_time_s, False, rank), LIMITS)
    assert isinstance(found, AuthorFailure)
    return found


@pytest.mark.parametrize(
    ("failure", "verdict", "begins"),
    [
        (ended(full=True, by=signal.SIGKILL), Verdict.MEMORY_LIMIT, "The submission used more"),
        (ended(by=signal.SIGXCPU), Verdict.TIME_LIMIT, "The submission used more than 10 s"),
        (ended(code=0, cpu_time_s=10.0), Verdict.TIME_LIMIT, "The submission used more than 10 s"),
        (
            ended(code=3, cpu_time_s=9.9),
            Verdict.RUNTIME_ERROR,
            "The submission ended its own process with exit code 3. ",
        ),
        (ended(code=0, rank=2), Verdict.RUNTIME_ERROR, "Rank 2 ended its own process"),
        (
            ended(by=signal.SIGSEGV, rank=0),
            Verdict.RUNTIME_ERROR,
            "Rank 0 was ended by SIGSEGV (Segmentation fault). Check indices",
        ),
        (ended(by=63), Verdict.RUNTIME_ERROR, "The submission was ended by signal 63. Send no"),
        (ended(by=64), Verdict.RUNTIME_ERROR, "The submission was ended by SIGRTMAX ("),
    ],
)
def test_an_end_is_told_with_what_it_was(
    failure: AuthorFailure, verdict: Verdict, begins: str
) -> None:
    assert (verdict, True) == (failure.verdict, failure.message.startswith(begins))


def test_only_an_end_that_anybody_can_cause_is_disputable() -> None:
    ends = (ended(by=signal.SIGKILL), ended(by=signal.SIGTERM), ended(code=1))
    assert [True, False, False] == [one.disputable for one in ends]


def test_an_end_without_any_trace_is_nobodys_fault() -> None:
    found = death(RunnerExit(None, None, False, 0.0, False), LIMITS)
    assert isinstance(found, SandboxUnavailable)
    assert "The runner was ended from outside of its sandbox." == str(found)


def late(verdict: Verdict = Verdict.TIME_LIMIT, **changes: float) -> AuthorFailure:
    error = AuthorFailure(verdict, "The connection had no answer.")
    vars(error).update(changes)
    return error


@pytest.mark.usefixtures("at_noon")
@pytest.mark.parametrize(
    ("error", "deadline", "named"),
    [
        (late(), NOW_S, True),
        (late(), NOW_S + 1, False),
        (late(had_s=4.0), NOW_S + 1, True),
        (late(Verdict.RUNTIME_ERROR), NOW_S, False),
        (late(Verdict.RUNTIME_ERROR, had_s=4.0), NOW_S, False),
    ],
)
def test_a_limit_is_named_if_it_was_exceeded(
    error: AuthorFailure, deadline: float, named: bool
) -> None:
    found = with_limit(error, Phase.TEST, 5.0, deadline)
    assert named is (found is not error)
    assert named is ("The test phase took longer than its time limit of 5 s" in found.message)


@pytest.mark.usefixtures("at_noon")
@pytest.mark.parametrize(
    ("error", "deadline", "named"),
    [
        (late(), NOW_S, True),
        (late(), NOW_S + 1, False),
        (late(had_s=4.0), NOW_S + 1, False),
        (late(Verdict.RUNTIME_ERROR), NOW_S, False),
    ],
)
@pytest.mark.parametrize("opponent", [False, True])
def test_so_is_that_of_an_import_and_whose_it_was(
    error: AuthorFailure, deadline: float, named: bool, opponent: bool
) -> None:
    error.of_opponent = opponent
    found = while_compiling(error, 5.0, deadline)
    assert (named, opponent) == (found is not error, found.of_opponent)
    assert named is found.message.startswith("Importing the submission took longer than the")


@pytest.mark.usefixtures("at_noon")
@pytest.mark.parametrize(
    ("error", "excused", "told"),
    [
        (late(waited_s=0.9), False, ""),
        (late(waited_s=1.0), False, " It waited 1.0 s of that for a processor"),
        (late(kept_waiting_s=5.0), False, ""),
        (late(kept_waiting_s=5.1), True, ""),
        (late(had_s=20.0, kept_waiting_s=10.1), True, ""),
        (late(had_s=21.0, kept_waiting_s=11.0), False, ""),
        (
            late(had_s=20.0, waited_s=2.0),
            False,
            " It waited 2.0 s of the 20.0 s that it had the second time for a processor",
        ),
    ],
)
def test_who_had_to_wait_for_more_than_half_of_a_limit_is_excused(
    error: AuthorFailure, excused: bool, told: str
) -> None:
    """And told of it from a tenth on."""
    found = with_limit(error, Phase.TEST, 10.0, NOW_S)
    assert (excused, excused) == (found.disputable, bool(found.excuse))
    rest = found.message.partition("try the slowest case alone.")[2]
    assert (bool(told), True) == (bool(rest), rest.startswith(told))


def test_only_who_is_excused_gets_more_time() -> None:
    excused = late()
    excused.excuse = "The machine was busy."
    assert [0.0, 100.0] == [more_time_s(error) for error in (late(), excused)]


@pytest.mark.parametrize(
    ("failure", "verdict", "says"),
    [
        (out_of_processor_time(LIMITS), Verdict.TIME_LIMIT, "more than 10 s of processor time."),
        (out_of_memory(LIMITS), Verdict.MEMORY_LIMIT, "more than 1 MiB of memory."),
        (too_much_output(LIMITS), Verdict.OUTPUT_LIMIT, "printed more than 77 bytes."),
        (written_late(3), Verdict.RULE_VIOLATION, "The output changed after custom_kernel had"),
    ],
)
def test_a_limit_has_its_verdict(failure: AuthorFailure, verdict: Verdict, says: str) -> None:
    assert (verdict, True, True) == (failure.verdict, says in failure.message, failure.fatal)


def test_how_much_was_written_late_is_evidence() -> None:
    assert "3 probes differ from the copy taken after them" == written_late(3).evidence


ILLEGAL_ADDRESS, ECC_ERROR, NO_MPS = 700, 214, 805


@pytest.mark.parametrize(
    ("fault", "fatal", "disputable"),
    [(0, False, False), (1, True, False), (ILLEGAL_ADDRESS, True, False), (ECC_ERROR, True, True)],
)
def test_after_a_fault_of_its_gpu_a_runner_is_of_no_more_use(
    fault: int, fatal: bool, disputable: bool
) -> None:
    with pytest.raises(AuthorFailure) as raised:
        refuse(RequestRefused(RefusalReason.RAISED, "in line 5", fault), "The call failed")
    found = raised.value
    assert (Verdict.RUNTIME_ERROR, "The call failed:\nin line 5") == (found.verdict, found.message)
    assert (fatal, fatal, disputable) == (found.fatal, found.is_gpu_fault, found.disputable)


def test_a_gpu_that_others_took_away_is_nobodys_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", "/nonexistent/mps")  # a daemon is kept from us
    with pytest.raises(SandboxUnavailable, match=r"^The runner lost its GPU: NVIDIA's MPS .*\.$"):
        refuse(RequestRefused(RefusalReason.RAISED, "", NO_MPS), "The call failed")


def test_another_reply_than_the_one_that_is_due_is_tampered_with() -> None:
    assert Loaded() == expect_reply(Loaded(), Loaded, "Loading failed")
    with pytest.raises(AuthorFailure, match="tampered with") as raised:
        expect_reply(IsReady(), Loaded, "Loading failed")
    assert Verdict.RULE_VIOLATION is raised.value.verdict
    with pytest.raises(AuthorFailure, match=r"^none here$"):
        expect_reply(RequestRefused(RefusalReason.MISSING), Loaded, "Loading failed", "none here")


def test_of_what_was_said_instead_the_beginning_is_shown() -> None:
    assert f"unexpected message {'x' * 300}" == garbage("x" * 301).evidence


def done(size: int) -> Done:
    return Done(None, size, fits=True, aliased=False, claim_ns=1, start_ns=1)


MEMORY = LIMITS.memory_bytes


@pytest.mark.parametrize(("size", "most"), [(0, None), (MEMORY, None), (9, 9)])
def test_an_output_fits_into_memory_and_is_no_larger_than_a_right_one(
    size: int, most: int | None
) -> None:
    assert size == output_size(done(size), LIMITS, most)


@pytest.mark.parametrize(
    ("size", "most", "why"),
    [
        (-1, None, "returned -1 bytes, more than memory allows"),
        (MEMORY + 1, None, f"returned {MEMORY + 1} bytes, more than memory allows"),
        (10, 9, "returned 10 bytes, far more than the right output has"),
    ],
)
def test_a_larger_one_is_wrong_and_the_runner_goes_on(
    size: int, most: int | None, why: str
) -> None:
    with pytest.raises(AuthorFailure, match=why) as raised:
        output_size(done(size), LIMITS, most)
    assert (Verdict.WRONG_ANSWER, False) == (raised.value.verdict, raised.value.fatal)


IN_ARENA = ReturnedInArena(5, 5, fits=True, claim_ns=1, start_ns=1)


@pytest.mark.parametrize("size", [0, 9])
def test_what_was_returned_has_room(size: int) -> None:
    expect_room(IN_ARENA, size, 9)


@pytest.mark.parametrize(("size", "why"), [(-1, "tampered with"), (10, "returned 10 bytes, more")])
def test_or_has_none(size: int, why: str) -> None:
    with pytest.raises(AuthorFailure, match=why):
        expect_room(IN_ARENA, size, 9)


@pytest.mark.parametrize(("claim_ns", "start_ns"), [(0, 0), (LONGEST_NS, LATEST_NS)])
def test_a_claim_is_a_time_that_somebody_waits_for(claim_ns: int, start_ns: int) -> None:
    found = claimed(IN_ARENA, claim_ns, start_ns)
    assert (claim_ns, 0, start_ns) == (found.claim_ns, found.bracket_ns, found.start_ns)


@pytest.mark.parametrize(
    ("claim_ns", "start_ns"), [(-1, 0), (0, -1), (LONGEST_NS + 1, 0), (0, LATEST_NS + 1)]
)
def test_any_other_is_tampered_with(claim_ns: int, start_ns: int) -> None:
    with pytest.raises(AuthorFailure, match="tampered with"):
        claimed(IN_ARENA, claim_ns, start_ns)
