"""What is shown of a submission's results."""

from dataclasses import replace
from datetime import UTC, datetime

from kernelbot.protocol import (
    CaseResult,
    CompileReport,
    Failure,
    Fault,
    Phase,
    PhaseResult,
    SandboxReport,
    SystemInfo,
    Verdict,
)
from kernelbot.ranking.model import Score
from kernelbot.ranking.roofline import RooflineLimit
from kernelbot.render.intervals import of_the_score
from kernelbot.submissions.model import Submission
from kernelbot.submissions.pages.comparison import (
    ComparedTime,
    DeviceComparison,
    ShownWorkload,
    Whose,
)
from kernelbot.submissions.pages.results import (
    diff_lines,
    shown_runs,
)
from kernelbot.submissions.timings import timed
from kernelbot.web.assets import Assets
from kernelbot.web.pages import Pages
from tests.render.results import ACCEPTED, WORKLOAD, WRONG, judged

EVIL = "<script>alert(1)</script>\u202e\x00\x1b[31m" + "x" * 100_000
AT = datetime(2026, 1, 1, tzinfo=UTC)


def page(shown: Submission, *comparisons: DeviceComparison) -> str:
    return Pages(Assets(), charts=False).text(
        "submission.html",
        session=None,
        path="/submission/1",
        submission=shown,
        mine=True,
        live=False,
        again=True,
        interval=of_the_score(shown.runs, shown.score_s),
        runs=shown_runs(shown),
        preflights=[],
        outcomes=[],
        comparisons=comparisons,
        duels=[],
        artifacts=[],
        profiles=[],
        earlier=[],
        shareable=False,
        link=None,
        source=None,
        cut=False,
        places=(),
    )


def test_the_first_case_that_failed_is_shown_with_what_was_expected() -> None:
    found = shown_runs(judged(WRONG))[0].phases[0]
    assert (1, WRONG.phases[0].cases[1]) == (found.passed, found.failed[0].first)
    assert "element 1 is 5, not 6" in page(judged(WRONG))


def test_cases_that_failed_the_same_way_are_counted_and_named() -> None:
    phase = WRONG.phases[0]
    cases = tuple(replace(phase.cases[1], spec=f"size: {n}") for n in range(4))
    shown = page(judged(replace(WRONG, phases=(replace(phase, cases=cases),))))
    assert (1, True) == (
        shown.count("element 1 is 5, not 6"),
        "3 more failed the same way: " in shown,
    )


def test_the_score_is_said_with_its_interval_and_before_all_else() -> None:
    shown = page(judged(ACCEPTED))
    parts = ["95 % interval of this judging 1.00 to 1.20 ms", ">Runs<", ">Ranked<", ">Machine<"]
    found = [shown.find(part) for part in parts]
    assert sorted(found) == found, found
    assert -1 not in found


def test_what_the_device_can_do_is_said_in_words_and_for_each_workload() -> None:
    times = (ComparedTime(Whose.MINE, 2e6, 100.0), ComparedTime(Whose.OWN, 1e6, 50.0))
    found = DeviceComparison(
        device="H100",
        workloads=(ShownWorkload("size: <1>", times, 0.25),),
        more=3,
        own=Score(4, "ada", 1e-3, None, AT),
        leader=Score(5, "bob", 5e-4, None, AT),
        leader_seen=False,
        limit=RooflineLimit(is_memory=True, share=0.31, at_least_s=6.2e-4),
    )
    shown = page(judged(ACCEPTED), found)
    parts = (
        "<strong>31 % of the bandwidth</strong>",
        "can&#39;t be moved in less than 620 µs.",
        "size: &lt;1&gt;",
        "25 %",
        '<rect class="own" x="0" y="9" width="50.0" height="6"/>',
        "the leader 500 µs",
        "3 more workloads",
    )
    assert [] == [part for part in parts if part not in shown]
    assert "/submission/5" not in shown


def test_calls_beyond_the_picture_are_named() -> None:
    samples = (*(1e6 + number for number in range(99)), 5e9)
    load = replace(WORKLOAD, samples_ns=samples)
    phase = replace(ACCEPTED.phases[1], workloads=(load,))
    shown = page(judged(replace(ACCEPTED, phases=(phase,))))
    assert "2 slower, up to 5.00 s" in shown


def test_a_compiler_s_message_keeps_its_lines_and_is_said_once() -> None:
    message = "  File 'a.py', line 1\n    x y\n      ^"
    failure = Failure(Fault.AUTHOR, message, "")
    broken = judged(replace(WRONG, phases=(), failure=failure))
    twice = replace(broken, runs=(*broken.runs, replace(broken.runs[0], id=2, secret=True)))
    shown = page(twice)
    found = [line for line in shown.splitlines() if "x y" in line]
    assert (1, ["    x y"]) == (shown.count("line 1"), found)
    assert '<pre class="wrong said"' in shown


def test_a_workload_says_how_its_times_are_spread_and_why_sampling_ended() -> None:
    timing = shown_runs(judged(ACCEPTED))[0].phases[1].timings[0]
    assert (3, 24.0) == (len(timing.bars), max(bar.height for bar in timing.bars))
    assert "its time limit was reached" in page(judged(ACCEPTED))


def test_the_measurements_are_those_of_the_last_timed_phase() -> None:
    assert [(WORKLOAD,), ()] == [timed(judged(one).runs[0]) for one in (ACCEPTED, WRONG)]


def test_processors_are_named_and_threads_that_are_too_many() -> None:
    system = replace(ACCEPTED.system, processors=1, threads=2)
    shown = page(judged(replace(ACCEPTED, system=system)))
    assert "a processor; 1 for the kernel" in shown
    assert "<p>Your kernel ran 2 threads on 1 processor" in shown


def test_hostile_output_stays_text_and_is_cut() -> None:
    evil = replace(
        WRONG,
        phases=(
            PhaseResult(
                Phase.TEST,
                Verdict.WRONG_ANSWER,
                0.1,
                cases=(CaseResult(EVIL, Verdict.WRONG_ANSWER, EVIL),),
            ),
        ),
        stdout=EVIL,
        stderr=EVIL,
        failure=Failure(Fault.AUTHOR, EVIL[::-1], EVIL),
        compile=CompileReport(EVIL, EVIL, 0.1, False),
        system=SystemInfo("<b>", "<script>", "<script>", "<script>", "<script>", ("<script>",)),
        sandbox=SandboxReport("<script>", ("<script>",), ("<script>",)),
    )
    text = page(judged(evil))
    assert (False, False, False) == ("<script>" in text, "\u202e" in text, "\x00" in text)
    assert len(text) < 250_000


def test_a_difference_has_its_kinds_of_lines() -> None:
    lines = ["--- a", "+++ b", "@@ -1,2 +1,2 @@", " a", "-b", "+c"]
    assert ["place", "same", "removed", "added"] == [line.kind for line in diff_lines(lines)]
