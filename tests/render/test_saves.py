from dataclasses import replace

from kernelbot.preflight.model import Figures, Kernel, Preflight, PreflightOutcome, PreflightReport
from kernelbot.protocol import (
    CaseResult,
    CompileReport,
    Failure,
    Fault,
    Mode,
    Phase,
    PhaseResult,
    Verdict,
    WorkloadResult,
)
from kernelbot.render.saves import save_text
from kernelbot.saves.model import Save, Timings
from tests.render.results import ACCEPTED as JUDGED

ACCEPTED = replace(JUDGED, mode=Mode.BENCHMARK, score_s=0.0001)


def workload(median_ns: float) -> WorkloadResult:
    ends = (median_ns * 0.99, median_ns * 1.01)
    return WorkloadResult("size: 1", (), median_ns, median_ns, 0.0, ends, *ends)


def test_times_stand_beside_the_best_and_the_last() -> None:
    timings = Timings()
    timings.add([workload(2e5)])
    timings.add([workload(4e5)])
    save = Save(3, ACCEPTED, version=7, tests_s=0.08, workloads=timings.add([workload(1e5)]))
    assert [
        "✓ Save 3 (version 7): accepted, tests 80.0 ms after the save, score 100 µs",
        "  workload  median   95 % interval  versus best    versus last    session",
        "  size: 1   100 µs  99.0 to 101 µs  2.00 x faster  4.00 x faster  ▃█▁",
        "  The intervals are of this judging alone.",
    ] == [line.rstrip() for line in save_text(save).splitlines() if "---" not in line]


def test_only_the_first_failing_case_and_what_was_said_are_shown() -> None:
    said = "\x1b]0;owned\x07expected 1, got 2"
    cases = (
        CaseResult("size: 1", Verdict.ACCEPTED, ""),
        CaseResult("size: 2\x1b[2J", Verdict.WRONG_ANSWER, said),
        CaseResult("size: 3", Verdict.WRONG_ANSWER, "another"),
    )
    result = replace(
        ACCEPTED,
        verdict=Verdict.WRONG_ANSWER,
        score_s=None,
        phases=(PhaseResult(Phase.TEST, Verdict.WRONG_ANSWER, 0.1, cases),),
        failure=Failure(Fault.AUTHOR, said),
        compile=CompileReport("cc", "mine.cpp:7: warning: unused", 0.1, cached=False),
        stdout="\x1b[31mred\n",
    )
    assert [
        "✗ Save 1: wrong answer",
        "  ✗ size: 2\\x1b[2J",
        "      \\x1b]0;owned\\x07expected 1, got 2",
        "  The compiler said:",
        "      mine.cpp:7: warning: unused",
        "  The program printed:",
        "      \\x1b[31mred",
    ] == save_text(Save(1, result)).splitlines()


def test_notes_say_why_nothing_was_timed() -> None:
    result = replace(
        ACCEPTED, score_s=None, system=replace(ACCEPTED.system, notes=("No\x1b times.",))
    )
    assert ["✓ Save 1: accepted", "  No\\x1b times."] == save_text(Save(1, result)).splitlines()


def test_a_save_without_a_result_says_why() -> None:
    assert "! Save 2: There is no file a\\x1b[2J now." == save_text(
        Save(2, trouble="There is no file a\x1b[2J now.")
    )


def test_preflights_stand_below_the_times() -> None:
    kernel = Kernel(Figures("k", 96, 136, 8, 0, 128, 3))
    report = PreflightReport("H100", "90a", PreflightOutcome.COMPILED, (kernel,), duration_s=0.5)
    save = Save(3, ACCEPTED, preflights=(Preflight(report),))
    assert [
        "  ✓ H100 (90a): compiled, 1 kernel in 500 ms",
        "    kernel  threads  stages  registers  spills  stack  shared",
        "    k           128       3         96     136      8       0",
    ] == save_text(save).splitlines()[1:]
