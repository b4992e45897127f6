import base64
from dataclasses import replace

from kernelbot.protocol import (
    Artifact,
    Failure,
    Fault,
    HarnessKind,
    Phase,
    RunResult,
    SandboxReport,
    Verdict,
)
from kernelbot.ranking.model import ScoreInterval
from kernelbot.render.intervals import of_all_judgings
from kernelbot.render.report import busy_hint, report, threads_hint, workloads_table
from tests.render.results import ACCEPTED, WORKLOAD, WRONG

ACCEPTED_TEXT = """\
test: accepted, 1 of 1 cases passed, 500 ms
  ✓ size: 1
leaderboard: accepted, 1.50 s
  workload              median    95 % interval     best    worst  calls  spread
  size: 1024; seed: 7  1.10 ms  1.00 to 1.20 ms  1.00 ms  1.20 ms      3  █     █    █
  Each call had new data and cold caches. Sampling ended because its time limit was reached. \
The intervals are of this judging alone.

✓ accepted: sort_np, mode leaderboard, on CPU
Score 1.10 ms (95 % interval of this judging 1.00 to 1.20 ms)"""

WRONG_TEXT = """\
test: wrong answer, 1 of 2 cases passed, 250 ms
  ✓ size: 1
  ✗ size: 2
      element 1 is 5, not 6

1 of 2 tests failed.

Compiled (200 ms): g++ a.cpp
    a warning
  name  regs
  k     32

What the program printed:
    hello

✗ wrong answer: sort_np, mode test, on CPU"""


def test_an_accepted_run_in_full() -> None:
    assert ACCEPTED_TEXT == report(ACCEPTED)


def test_a_ranked_score_has_the_interval_of_the_ranking() -> None:
    interval = ScoreInterval((0.0009, 0.0013), (0.001, 0.0012), 0.05, 0)
    assert (
        f"Score 1.10 ms ({of_all_judgings(interval)})"
        == (report(ACCEPTED, interval=interval).splitlines()[-1])
    )


def test_an_anchor_s_time_stands_beside_the_median() -> None:
    timed = replace(WORKLOAD, anchor_ns=2_200_000.0)
    workloads = (timed, replace(WORKLOAD, spec="size: 1"))
    rows = [line.split() for line in workloads_table(workloads).splitlines()]
    assert ["calls", "anchor", "of", "it", "spread"] == rows[0][-5:]
    assert ["3", "2.20", "ms", "0.5", "x", "█"] == rows[1][-8:-2]
    assert ["ms", "3", "█", "█", "█"] == rows[2][-5:]


def test_a_wrong_answer_in_full() -> None:
    assert WRONG_TEXT == report(WRONG)


def test_our_fault_is_said_to_be_ours() -> None:
    failed = replace(
        WRONG, verdict=Verdict.INTERNAL_ERROR, failure=Failure(Fault.PLATFORM, "The disk is full.")
    )
    assert "The disk is full.\nOur fault, not the submission's." in report(failed)


def test_evidence_is_shown() -> None:
    refused = replace(WRONG, failure=Failure(Fault.AUTHOR, "The clock was wrong.", "5 ns < 10 ns"))
    assert "The clock was wrong.\n    5 ns < 10 ns" in report(refused)


def test_a_script_s_result_is_marked_unverified() -> None:
    text = report(replace(ACCEPTED, harness=HarnessKind.SCRIPT))
    assert "\n\nNote: Measured by the problem's own script: unverified.\n\n" in text


def test_a_missing_sandbox_is_said() -> None:
    text = report(replace(ACCEPTED, sandbox=SandboxReport("none", (), ("all: by choice",))))
    assert "\n\nNote: Judged without a sandbox, because the operator said so.\n\n" in text


def test_more_threads_than_processors_are_said_with_what_to_do() -> None:
    one = replace(ACCEPTED, system=replace(ACCEPTED.system, processors=1, threads=4))
    assert (
        "\n\nNote: Processors for the kernel: 1.\nNote: Your kernel ran 4 threads on 1 processor: "
        "they took turns, which costs time. Use one thread here, as OMP_NUM_THREADS says.\n\n"
    ) in report(one)
    more = replace(one.system, processors=2, threads=3)
    assert "ran 3 threads on 2 processors: they took turns, which costs time. Use 2 threads" in (
        threads_hint(more)
    )


def test_as_many_threads_as_processors_need_no_hint() -> None:
    system = replace(ACCEPTED.system, processors=4, threads=4)
    assert "" == threads_hint(system)
    assert "" == threads_hint(replace(system, threads=None))
    assert "" == threads_hint(replace(system, processors=None))


def waited(count: int, repeated: int) -> RunResult:
    """Three samples of a workload, after so many waits."""
    load = replace(WORKLOAD, waited=count, repeated=repeated)
    last = replace(ACCEPTED.phases[-1], workloads=(load,))
    return replace(ACCEPTED, phases=(*ACCEPTED.phases[:-1], last))


def test_calls_that_waited_are_counted() -> None:
    assert " 2 of 5 calls waited for other programs' work, and were repeated. The " in report(
        waited(2, 2)
    )


def test_calls_that_waited_and_could_not_be_repeated_are_counted() -> None:
    assert " 2 of 3 calls waited for other programs' work. The " in report(waited(2, 0))


def test_windows_of_several_calls_are_told_with_their_number() -> None:
    load = replace(WORKLOAD, calls=32, waited=1)
    last = replace(ACCEPTED.phases[-1], workloads=(load, replace(WORKLOAD, spec="size: 1")))
    text = report(replace(ACCEPTED, phases=(*ACCEPTED.phases[:-1], last)))
    assert ["3", "x", "32"] == text.splitlines()[4].split()[-6:-3]
    assert (
        "  Each call had new data; a short kernel's samples are windows of 32 calls, which begin "
        "with cold caches. Sampling ended because its time limit was reached. 1 of 6 windows "
        "waited for other programs' work. The "
    ) in text


def test_a_busy_machine_is_said_with_what_to_do() -> None:
    assert (
        "Note: The machine was busy: 90 % of the calls waited for a processor that other programs "
        "had. That is nobody's fault, and such a time isn't ranked: measure again when less runs "
        "there.\n"
    ) in report(waited(9, 7))


def test_a_quiet_machine_needs_no_hint() -> None:
    assert "" == busy_hint(ACCEPTED)
    assert "waited" not in report(waited(0, 0))


def test_what_is_for_operators_is_left_to_the_doctor() -> None:
    text = report(replace(ACCEPTED, sandbox=SandboxReport("full", (), ("landlock: too old",))))
    assert "landlock" not in text


def test_each_reason_why_sampling_ended_is_counted() -> None:
    precise = replace(WORKLOAD, stopped_by="precision")
    timed = replace(ACCEPTED.phases[1], workloads=(WORKLOAD, precise, precise))
    said = "its time limit was reached (1 of 3) or the interval was narrow enough (2 of 3)."
    assert said in report(replace(ACCEPTED, phases=(timed,)))


def test_it_says_in_how_many_processes_calls_were_timed() -> None:
    several = replace(WORKLOAD, processes=8)
    texts = [
        report(replace(ACCEPTED, phases=(replace(ACCEPTED.phases[1], workloads=loads),)))
        for loads in ((WORKLOAD,), (several,), (several, WORKLOAD))
    ]
    said = [text.partition("new data and cold caches")[2].partition(".")[0] for text in texts]
    assert ["", "; 8 processes of the kernel took turns"] == said[:2]
    assert "; 1 or 8 processes of the kernel took turns" == said[2]


def test_only_the_timings_that_count_are_listed() -> None:
    test, ranked = ACCEPTED.phases
    text = report(replace(ACCEPTED, phases=(test, replace(ranked, phase=Phase.BENCHMARK), ranked)))
    assert ("benchmark: accepted, 1.50 s\nleaderboard" in text, 1) == (
        True,
        text.count("size: 1024"),
    )


def test_the_program_can_not_write_to_the_terminal() -> None:
    assert "\x1b" not in report(replace(WRONG, stdout="\x1b]0;owned\x07", stderr="\x1b[2J"))


def test_the_short_report_shortens_outputs_and_keeps_the_failing_case() -> None:
    noisy = replace(WRONG, stdout="x" * 100_000, stderr="y" * 100_000)
    text = report(noisy, output_limit=200, passed_cases=False)
    assert (True, True) == (len(text) <= 2000, "element 1 is 5, not 6" in text)


def test_the_short_report_counts_what_passed() -> None:
    text = report(WRONG, passed_cases=False)
    assert ("1 of 2 cases passed" in text, "✓ size: 1" in text) == (True, False)


def test_a_profile_is_shown_and_a_trace_named() -> None:
    table = base64.b64encode(b"ncalls  tottime\n     5    0.002\n").decode()
    trace = base64.b64encode(b"PK\x03\x04\xff").decode()
    text = report(
        replace(
            ACCEPTED,
            artifacts=(
                Artifact("profile.0.txt", "text/plain", table),
                Artifact("profile.0.zip", "application/zip", trace),
            ),
        )
    )
    assert "profile.0.txt:\n    ncalls  tottime\n         5    0.002" in text
    assert "File: profile.0.zip, 5 bytes" in text


def test_a_file_that_is_to_be_downloaded_has_no_size() -> None:
    files = (Artifact("a\nb.csv", "text/csv", ""),)
    assert "\n\nFile: a\\nb.csv\n\n" in report(replace(ACCEPTED, artifacts=files))


def test_timings_fit_into_a_narrow_terminal_by_leaving_columns_out() -> None:
    text = report(ACCEPTED, columns=72)
    assert all(len(line) <= 72 for line in text.splitlines() if "Sampling" not in line)
    assert "  workload              median    95 % interval  calls  spread\n" in text


def test_the_median_and_its_interval_are_never_left_out() -> None:
    header = workloads_table((WORKLOAD,), 10).splitlines()[0]
    assert ["workload", "median", "95", "%", "interval"] == header.split()


def test_one_traceback_of_several_cases_is_shown_once() -> None:
    phase = WRONG.phases[0]
    crash = "Traceback (most recent call last):\nIndexError: size {}"
    ends = [crash.format(1), crash.format(23), "element 1 is 5, not 6", "element 2 is 7, not 8"]
    cases = [
        replace(phase.cases[1], spec=f"size: {number}", message=message)
        for number, message in enumerate([*ends, *map(crash.format, range(100, 110))])
    ]
    expected = """\
  ✗ size: 0
      Traceback (most recent call last):
      IndexError: size 1
  ✗ 11 more failed the same way: (size: 1), (size: 4), (size: 5), (size: 6), ...
  ✗ size: 2
      element 1 is 5, not 6
  ✗ size: 3
      element 2 is 7, not 8"""
    found = report(replace(WRONG, phases=(replace(phase, cases=tuple(cases)),)))
    assert expected.splitlines() == found.splitlines()[1:9]
