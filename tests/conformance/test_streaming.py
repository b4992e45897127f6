"""A submission over server-sent events: profile runs, and every mode of older clients."""

import io
import json
import zipfile

import pytest

from tests.conformance import submissions
from tests.conformance.popcorn_cli import (
    ClientFailure,
    Json,
    PopcornCli,
    Transcript,
    frames,
    multipart,
)
from tests.conformance.submissions import MARKER

RUN_RESULT_KEYS = {
    "success",
    "passed",
    "command",
    "stdout",
    "stderr",
    "exit_code",
    "duration",
    "result",
}


@pytest.fixture(scope="module")
def streamed(author: PopcornCli, board: str, device: str) -> bytes:
    """The raw stream of a submission in test mode."""
    body, content_type = multipart(submissions.slow())
    with author.wire.stream(f"/{board}/{device}/test", body, content_type, 3600) as answer:
        assert "text/event-stream" == answer.headers["content-type"].split(";")[0]
        content: bytes = answer.read()
        return content


@pytest.fixture(scope="module")
def result(streamed: bytes) -> Json:
    """The data of its `result` event."""
    return next(json.loads(data) for event, data in frames(iter([streamed])) if event == "result")


def test_frames_end_with_plain_newlines_and_are_ascii(streamed: bytes) -> None:
    assert streamed.endswith(b"\n\n")
    assert b"\r" not in streamed
    assert streamed.isascii()


def test_a_frame_has_one_event_line_and_one_data_line(streamed: bytes) -> None:
    bodies = [part.split("\n") for part in streamed.decode().split("\n\n") if part]
    kinds = {tuple(line.split(":")[0] for line in body) for body in bodies}
    assert kinds <= {("event", "data"), ("",)}


def test_status_events_tell_that_it_is_processed(streamed: bytes) -> None:
    states = [json.loads(data) for event, data in frames(iter([streamed])) if event == "status"]
    assert states
    assert {"processing"} == {state["status"] for state in states}
    times = [state["elapsed_time"] for state in states]
    assert sorted(times) == times


def test_the_result_comes_last_and_once(streamed: bytes) -> None:
    events = [event for event, _ in frames(iter([streamed]))]
    assert ("result", 1) == (events[-1], events.count("result"))


def test_a_result_has_results_and_reports(result: Json) -> None:
    assert "success" == result["status"]
    assert all(isinstance(report, str) for report in result["reports"])
    assert {"success", "error", "system", "runs"} <= set(result["results"][0])
    assert isinstance(result["results"][0]["system"], dict)


def test_a_run_is_shaped_as_written(result: Json) -> None:
    run = result["results"][0]["runs"]["test"]
    assert {"start", "end", "compilation", "run", "profile"} == set(run)
    assert RUN_RESULT_KEYS <= set(run["run"])
    assert (True, True) == (run["run"]["success"], run["run"]["passed"])
    assert run["profile"] is None


def test_the_client_shows_the_programs_output(author: PopcornCli, board: str, device: str) -> None:
    shown = Transcript()
    reports = author.submit_streaming(submissions.wrong(), board, device, "test", shown)
    assert MARKER in shown.text
    assert any("None" in report for report in reports)


@pytest.mark.exhaustive
def test_a_ranked_stream_ends_with_every_run(author: PopcornCli, board: str, device: str) -> None:
    body, content_type = multipart(submissions.correct())
    with author.wire.stream(f"/{board}/{device}/leaderboard", body, content_type, 3600) as answer:
        events = dict(frames(answer.iter_raw()))
    runs = json.loads(events["result"])["results"][0]["runs"]
    assert {"test", "benchmark", "leaderboard"} == set(runs)


def test_a_profile_run_is_decoded_by_the_client(
    author: PopcornCli, board: str, device: str
) -> None:
    shown = Transcript()
    author.submit_streaming(submissions.correct(), board, device, "profile", shown)
    assert "=== Profiler: " in shown.text
    assert "Benchmark: size: " in shown.text
    assert "custom_kernel" in shown.text
    assert shown.traces
    for trace in shown.traces:
        assert zipfile.ZipFile(io.BytesIO(trace)).testzip() is None


def test_profile_runs_have_numbered_keys_and_an_integer_count(
    author: PopcornCli, board: str, device: str
) -> None:
    body, content_type = multipart(submissions.correct())
    with author.wire.stream(f"/{board}/{device}/profile", body, content_type, 3600) as answer:
        events = dict(frames(answer.iter_raw()))
    runs = json.loads(events["result"])["results"][0]["runs"]
    assert "profile.0" in runs
    counts = [run["run"]["result"]["benchmark-count"] for run in runs.values() if run["profile"]]
    assert all(type(count) is int for count in counts)
    assert counts


def test_a_refusal_comes_before_the_stream(author: PopcornCli, board: str, device: str) -> None:
    with pytest.raises(ClientFailure, match=r"Server returned status 400: .*\.cpp"):
        author.submit_streaming(
            submissions.named("kernel.txt"), board, device, "test", Transcript()
        )


@pytest.mark.exhaustive  # each run has test_frames_end_with_plain_newlines_and_are_ascii
def test_a_client_that_goes_away_does_not_stop_the_submission(
    author: PopcornCli, board: str, device: str
) -> None:
    known = {item["id"] for item in author.submissions(board)}
    body, content_type = multipart(submissions.slow())
    with author.wire.stream(f"/{board}/{device}/test", body, content_type, 3600) as answer:
        next(answer.iter_raw())
    (left,) = {item["id"] for item in author.submissions(board)} - known
    assert "succeeded" == author.wait(left).details["job"]["status"]
