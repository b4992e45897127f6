"""The page of a profile: who sees it, and what it says of honest and of hostile files."""

import gzip
from pathlib import Path

import pytest

from kernelbot.protocol import Mode
from kernelbot.runs.files import RunFile
from kernelbot.submissions.model import Submission
from kernelbot.submissions.pages.profile import profiles_of
from tests.support.front import Front
from tests.support.profiled import HOSTILE_REPORTS, REPORT, leave_files
from tests.support.traces import event, trace_of
from tests.support.workers import finished, quick_settings, working

EVENTS = [
    event("aten::linear", 0, 1000),
    event("aten::addmm", 100, 800),
    event("cudaLaunchKernel", 200, 1, category="cuda_runtime"),
    event("void k<64>(float*)", 300, 500, category="kernel"),
]
TRACE = "profile.0.trace.json.gz"


async def profiled(front: Front, **files: bytes) -> Submission:
    """A submission whose run has left files, by the ends of their names."""
    await front.world.board()
    submitted = await front.world.submit(mode=Mode.PROFILE)
    names = {f"profile.0.{end.replace('_', '.')}": content for end, content in files.items()}
    await leave_files(front.world, submitted.runs[0].id, names)
    return submitted


def page_of(submission: Submission, index: int = 0) -> str:
    return f"/submission/{submission.id}/profile/{submission.runs[0].id}/{index}"


@pytest.mark.exhaustive  # each run has test_a_page_is_light_whatever_the_trace
async def test_it_is_for_those_who_may_see_the_result(front: Front) -> None:
    path = page_of(await profiled(front, txt=REPORT))
    found = [(await one.get(path)).status_code for one in (front.stranger, front.bob)]
    assert [303, 403] == found
    assert [200, 200] == [(await one.get(path)).status_code for one in (front.ada, front.admin)]


async def test_another_run_or_workload_is_not_there(front: Front) -> None:
    submitted = await profiled(front, txt=REPORT)
    other = await front.world.submit(mode=Mode.PROFILE)
    run_id = submitted.runs[0].id
    for path in (
        page_of(submitted, 1),
        f"/submission/{submitted.id}/profile/{run_id + 1}/0",
        f"/submission/{other.id}/profile/{run_id}/0",
    ):
        assert 404 == (await front.ada.get(path)).status_code
    for path in ("x/0", "0/0", f"{run_id}/-1", f"{run_id}/{10**30}", f"{10**30}/0"):
        answer = await front.ada.get(f"/submission/{submitted.id}/profile/{path}")
        assert 422 == answer.status_code


async def test_limits_come_first_then_graphs_then_counters(front: Front) -> None:
    submitted = await profiled(front, txt=REPORT, trace_json_gz=trace_of(EVENTS))
    text = (await front.ada.get(page_of(submitted))).text
    shown = [
        "<dt>Compute</dt>",
        "<dt>Memory</dt>",
        "<dt>Occupancy</dt>",
        "of 50 % possible",
        "On the processor",
        "<title>aten::linear: 1.00 ms, 100.0 %; 1 calls, 200 µs their own</title>",
        "drawn: 1 more call, together 0.1 %",
        "On the GPU",
        "Counters, per call",
        "1.50 per cycle",
        "Open profile.0.trace.json.gz in Perfetto",
    ]
    places = [text.find(one) for one in shown]
    assert (sorted(places), False) == (places, -1 in places)


async def test_hostile_names_stay_text(front: Front) -> None:
    hostile = "</title></svg><script>alert(1)</script>\u202e\x1b[2J'\""
    text = f"== {hostile[:60]} ==\n  {hostile}  {hostile}\n".encode()
    submitted = await profiled(
        front,
        txt=b"== Counters, per call ==\n" + text + text,
        trace_json_gz=trace_of([event(hostile, 0, 1), event(hostile, 0, 1, category="kernel")]),
    )
    answer = await front.ada.get(page_of(submitted))
    assert (200, False, False, False) == (
        answer.status_code,
        "<script>alert" in answer.text,
        "\u202e" in answer.text,
        "\x1b" in answer.text,
    )
    assert "default-src 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("trace", "said"),
    [
        (b"\x1f\x8b", "The trace has no events."),
        (gzip.compress(b'{"traceEvents": [' + b"[" * 100_000), "no calls with a time"),
        (trace_of(EVENTS)[:-10], "beginning of the trace"),
        (trace_of([event("a", float("nan"), 1), event("b", 1, 10**400)]), "no calls with a time"),
    ],
)
async def test_a_trace_that_cannot_be_read_leaves_the_rest(
    front: Front, trace: bytes, said: str
) -> None:
    submitted = await profiled(front, txt=REPORT, trace_json_gz=trace)
    text = (await front.ada.get(page_of(submitted))).text
    assert [True, True, True] == [one in text for one in (said, "Counters", TRACE)]


async def test_a_page_is_light_whatever_the_trace(front: Front) -> None:
    names = [f"void kernel_{number}<{'64, ' * 60}>" for number in range(3_000)]
    events = [event(name, number, 2 - number % 2) for number, name in enumerate(names)]
    submitted = await profiled(front, txt=REPORT, trace_json_gz=trace_of(events))
    assert len((await front.ada.get(page_of(submitted))).content) < 60_000


async def test_a_profile_without_a_trace_has_its_text(front: Front) -> None:
    text = (await front.ada.get(page_of(await profiled(front, txt=b"free <words>")))).text
    assert [True, False, False] == [
        one in text for one in ("free &lt;words&gt;", "perfetto", "<svg")
    ]


@pytest.mark.exhaustive  # each run has test_a_page_is_light_whatever_the_trace
async def test_the_submission_leads_to_the_profile_of_each_workload(
    front: Front, tmp_path: Path
) -> None:
    await front.world.board()
    async with working(quick_settings(tmp_path), front.world.database.url):
        submitted = await front.world.submit(content=b"# fake: accepted\n", mode=Mode.PROFILE)
        await finished(front.world, submitted.id)
    text = (await front.ada.get(f"/submission/{submitted.id}")).text
    assert 1 == text.count(f'href="{page_of(submitted)}"')
    answer = await front.ada.get(page_of(submitted))
    assert (200, True) == (answer.status_code, "a table" in answer.text)


async def test_its_window_may_speak_to_another(front: Front) -> None:
    submitted = await profiled(front, txt=REPORT)
    paths = (page_of(submitted), f"/submission/{submitted.id}")
    found = [(await front.ada.get(path)).headers["cross-origin-opener-policy"] for path in paths]
    assert ["same-origin-allow-popups", "same-origin"] == found


async def test_files_are_put_together_by_run_and_workload(front: Front) -> None:
    submitted = await profiled(front)
    names = ["profile.10.txt", "profile.2.txt", TRACE, "2-profile.0.txt", "profile.01.txt", "x"]
    files = [RunFile(run, "CPU", name, "", 1) for run in (7, 3) for name in names]
    found = profiles_of(submitted, files)
    assert [(run, index) for run in (7, 3) for index in (0, 2, 10)] == [
        (one.run_id, one.index) for one in found
    ]
    assert [TRACE] == [file.name for file in found[0].for_perfetto]


@pytest.mark.parametrize("name", ["wide", "tables", "long"])
async def test_a_page_is_bounded_whatever_the_report(front: Front, name: str) -> None:
    submitted = await profiled(front, txt=HOSTILE_REPORTS[name].encode())
    answer = await front.ada.get(page_of(submitted))
    assert (200, True) == (answer.status_code, len(answer.content) < 300_000)
