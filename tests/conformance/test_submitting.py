"""A submission in the background: accepted, polled, done."""

import time

import pytest

from tests.conformance import submissions
from tests.conformance.popcorn_cli import (
    FAILED_STATUSES,
    ClientFailure,
    PopcornCli,
    Submitted,
    Transcript,
    Upload,
    multipart,
    parse_score,
)
from tests.conformance.submissions import MARKER
from tests.conformance.test_reading import QUEUE_KEYS

RUN_KEYS = {"start_time", "end_time", "mode", "secret", "runner", "score", "passed"}
DETAIL_KEYS = {
    "id": int,
    "leaderboard_id": int,
    "leaderboard_name": str,
    "file_name": str,
    "user_id": str,
    "submission_time": str,
    "done": bool,
    "code": str,
    "runs": list,
}


@pytest.fixture(scope="module")
def refused(author: PopcornCli, board: str, device: str) -> str:
    """What the client prints of a submission whose tests failed."""
    with pytest.raises(ClientFailure) as failure:
        author.submit(submissions.wrong(), board, device, "test")
    return str(failure.value)


def test_the_answer_to_a_submission_is_202_with_the_id_and_the_queue(
    author: PopcornCli, board: str, device: str
) -> None:
    body, content_type = multipart(submissions.correct())
    path = f"/submission/{board}/{device}/test"
    answer = author.wire.send("POST", path, limit_s=60, body=body, content_type=content_type)
    accepted = answer.json()
    assert (202, "accepted") == (answer.status_code, accepted["status"])
    assert isinstance(accepted["details"]["id"], int)
    assert isinstance(accepted["details"]["job_status_id"], int)
    assert QUEUE_KEYS == set(accepted["runner_queue"])
    author.wait(accepted["details"]["id"])


def test_a_body_of_unannounced_length_is_taken_too(
    author: PopcornCli, board: str, device: str
) -> None:
    body, content_type = multipart(submissions.named("a.txt"))
    path = f"/submission/{board}/{device}/test"
    with author.wire.stream(path, iter([body]), content_type, 60) as answer:  # type: ignore[arg-type]  # httpx streams any iterable of bytes
        answer.read()
    assert 400 == answer.status_code
    assert ".cpp" in answer.json()["detail"]


def test_the_client_sends_boards_and_modes_in_lower_case(
    author: PopcornCli, board: str, device: str
) -> None:
    done = author.submit(submissions.correct(), board.upper(), device, "TEST")
    assert board == done.details["leaderboard_name"]


def test_details_have_every_key_in_its_type(tested: Submitted) -> None:
    found = {key: type(tested.details[key]) for key in DETAIL_KEYS}
    assert DETAIL_KEYS == found
    assert {"job", "runner_queue"} <= set(tested.details)
    assert {"status", "error", "last_heartbeat"} == set(tested.details["job"])


def test_details_show_the_code_to_its_author(tested: Submitted) -> None:
    assert submissions.correct().content.decode() == tested.details["code"]


def test_runs_have_every_key_and_their_scores_are_seconds(ranked: Submitted) -> None:
    assert all(set(run) >= RUN_KEYS for run in ranked.details["runs"])
    scores = [parse_score(run["score"]) for run in ranked.details["runs"]]
    assert any(scores)
    assert all(0 < score < 600 for score in scores if score is not None)


def test_a_ranked_submission_has_public_and_secret_runs_that_passed(ranked: Submitted) -> None:
    ends = {
        (run["secret"], run["passed"])
        for run in ranked.details["runs"]
        if run["mode"] == "leaderboard"
    }
    assert {(False, True), (True, True)} == ends


def test_the_client_shows_the_score_of_the_timed_run(ranked: Submitted, device: str) -> None:
    lines = ranked.summary.splitlines()
    assert ["secret"] == sorted(line.split("(")[1].split(")")[0] for line in lines)
    assert all(f" on {device}: " in line for line in lines)


def test_results_are_shown_of_public_test_and_benchmark_runs_alone(ranked: Submitted) -> None:
    with_result = {
        (run["secret"], run["mode"]) for run in ranked.details["runs"] if run.get("result")
    }
    assert {(False, "test"), (False, "benchmark")} == with_result


def test_a_test_result_names_each_test(tested: Submitted) -> None:
    result = next(run["result"] for run in tested.details["runs"] if run["mode"] == "test")
    count = int(result["test-count"])
    assert count > 0
    assert ["pass"] * count == [result[f"test.{index}.status"] for index in range(count)]
    assert all(result[f"test.{index}.spec"] for index in range(count))


def test_a_benchmark_result_is_in_nanoseconds(ranked: Submitted) -> None:
    run = next(
        run for run in ranked.details["runs"] if run["mode"] == "benchmark" and not run["secret"]
    )
    for index in range(int(run["result"]["benchmark-count"])):
        mean_ns = float(run["result"][f"benchmark.{index}.mean"])
        assert float(run["result"][f"benchmark.{index}.best"]) <= mean_ns
        assert float(run["result"][f"benchmark.{index}.worst"]) >= mean_ns
        assert mean_ns > 1


def test_a_failed_submission_names_the_test_the_message_and_the_output(refused: str) -> None:
    assert " failed: " in refused
    assert "None" in refused
    assert MARKER in refused


def test_a_failed_submission_is_done(author: PopcornCli, refused: str) -> None:
    submission_id = int(refused.split()[1])
    details = author.submission(submission_id)
    assert (True, "failed") == (details["done"], details["job"]["status"])
    assert [False] == [run["passed"] for run in details["runs"]]


def test_an_accepted_submission_is_done_and_succeeded(tested: Submitted) -> None:
    job = tested.details["job"]
    assert (True, "succeeded", None) == (tested.details["done"], job["status"], job["error"])


@pytest.mark.exhaustive  # each run has test_a_waiting_submission_shows_its_status_and_queue
def test_done_and_the_final_status_change_together(
    author: PopcornCli, board: str, device: str
) -> None:
    submission_id = author.accept(submissions.slow(), board, device, "test")["details"]["id"]
    final = {*FAILED_STATUSES, "succeeded"}
    contradictions = []
    for _ in range(20_000):
        details = author.submission(submission_id)
        if details["done"] != (details["job"]["status"] in final):
            contradictions.append(details)
        if details["done"]:
            break
        time.sleep(0.02)
    assert [] == contradictions
    assert details["done"]


def test_a_waiting_submission_shows_its_status_and_queue(
    author: PopcornCli, board: str, device: str
) -> None:
    shown = Transcript()
    author.submit(submissions.slow(), board, device, "test", shown.log)
    assert "accepted" in shown.lines[0]
    assert f"{device} queue: " in shown.lines[0]
    assert any("status: pending" in line or "status: running" in line for line in shown.lines)


def test_a_submission_that_is_not_there_is_not_found(author: PopcornCli) -> None:
    with pytest.raises(ClientFailure, match=r"Server returned status 404: .+"):
        author.submission(2**62)


def test_somebody_elses_submission_is_forbidden(other: PopcornCli, tested: Submitted) -> None:
    with pytest.raises(ClientFailure, match=r"Server returned status 403: .+"):
        other.submission(tested.id)


@pytest.mark.parametrize(
    ("upload", "mode", "status", "word"),
    [
        (submissions.named("a.py"), "nonsense", 400, "nonsense"),
        (submissions.containing(b"x" * (submissions.MIB + 1)), "test", 413, "1 MiB"),
        (submissions.containing(b"\xff\xfe\x00"), "test", 400, "UTF-8"),
        (submissions.containing(b""), "test", 400, "empty"),
        (submissions.named("kernel.txt"), "test", 400, ".cpp"),
        (submissions.named("kernel"), "test", 400, ".py"),
        (submissions.named("../../etc/passwd"), "test", 400, ""),
        (submissions.named("a'; echo x\n.py"), "test", 400, ""),
        (submissions.containing("#!POPCORN nonsense\n"), "test", 400, "directive"),
    ],
)
def test_a_file_that_cannot_be_taken_is_refused_in_a_sentence(
    author: PopcornCli, board: str, device: str, upload: Upload, mode: str, status: int, word: str
) -> None:
    with pytest.raises(ClientFailure) as failure:
        author.accept(upload, board, device, mode)
    assert status == failure.value.status
    assert word.lower() in str(failure.value).lower()


@pytest.mark.parametrize("size", [70_000, 1 << 20, 16 << 20])
def test_a_file_far_too_large_is_refused_in_a_sentence_and_not_by_a_reset_connection(
    author: PopcornCli, board: str, device: str, size: int
) -> None:
    upload = submissions.containing(b"#" * (submissions.MIB + size))
    with pytest.raises(ClientFailure, match=r"Server returned status 413: .+"):
        author.accept(upload, board, device, "test")


@pytest.mark.parametrize("name", ["a.py", "a.cu", "a.cuh", "a.cpp", "A b (1).py", 'q"uote.py'])
def test_file_names_with_a_known_extension_get_past_that_check(
    author: PopcornCli, device: str, name: str
) -> None:
    with pytest.raises(ClientFailure, match=r"status 404"):
        author.accept(submissions.named(name), "no-such-board", device, "test")


def test_a_device_nobody_has_is_refused(author: PopcornCli, board: str) -> None:
    with pytest.raises(ClientFailure, match=r"Server returned status 400: .*NoSuchGPU"):
        author.accept(submissions.correct(), board, "NoSuchGPU", "test")


def test_a_form_without_a_file_is_refused(author: PopcornCli, board: str, device: str) -> None:
    body = b'--b\r\nContent-Disposition: form-data; name="other"\r\n\r\nx\r\n--b--\r\n'
    answer = author.wire.send(
        "POST",
        f"/submission/{board}/{device}/test",
        limit_s=60,
        body=body,
        content_type="multipart/form-data; boundary=b",
    )
    assert 400 == answer.status_code
    assert "file" in answer.json()["detail"]


class TestOrderOfChecks:
    """Of two faults, the one that is checked first is the one that is named."""

    def test_a_token_before_a_mode(self, stranger: PopcornCli, board: str, device: str) -> None:
        with pytest.raises(ClientFailure, match=r"status 400: .*X-Popcorn-Cli-Id"):
            stranger.accept(submissions.correct(), board, device, "nonsense")

    def test_a_mode_before_a_device(self, author: PopcornCli, board: str) -> None:
        with pytest.raises(ClientFailure, match=r"status 400: .*nonsense"):
            author.accept(submissions.correct(), board, "NoSuchGPU", "nonsense")

    def test_a_device_before_a_size(self, author: PopcornCli, board: str) -> None:
        upload = submissions.containing(b"x" * (submissions.MIB + 1))
        with pytest.raises(ClientFailure, match=r"status 400: .*NoSuchGPU"):
            author.accept(upload, board, "NoSuchGPU", "test")

    def test_utf8_before_a_name(self, author: PopcornCli, board: str, device: str) -> None:
        with pytest.raises(ClientFailure, match=r"status 400: .*UTF-8"):
            author.accept(Upload("kernel.txt", b"\xff\xfe"), board, device, "test")

    def test_a_name_before_directives(self, author: PopcornCli, board: str, device: str) -> None:
        upload = Upload("kernel.txt", b"#!POPCORN nonsense\n")
        with pytest.raises(ClientFailure, match=r"status 400: .*\.cpp"):
            author.accept(upload, board, device, "test")

    def test_directives_before_a_board(self, author: PopcornCli, device: str) -> None:
        upload = submissions.containing("#!POPCORN nonsense\n")
        with pytest.raises(ClientFailure, match=r"status 400: .*POPCORN"):
            author.accept(upload, "no-such-board", device, "test")

    def test_a_board_that_is_not_there(self, author: PopcornCli, device: str) -> None:
        with pytest.raises(ClientFailure, match=r"status 404: .*no-such-board"):
            author.accept(submissions.correct(), "no-such-board", device, "test")


class TestDirectives:
    """`#!POPCORN` in the first comment block."""

    @pytest.mark.parametrize(
        "lines",
        [
            "#!POPCORN",
            "#!POPCORN unheard-of thing",
            "#!POPCORN leaderboard",
            "#!POPCORN gpu",
            "#!POPCORN leaderboard {board}\n#!POPCORN leaderboard {board}",
            "#!POPCORN gpu {device}\n#!POPCORN gpus {device}",
        ],
    )
    def test_unknown_doubled_or_empty_ones_are_a_clear_400(
        self, author: PopcornCli, board: str, device: str, lines: str
    ) -> None:
        source = lines.format(board=board, device=device) + "\ndef custom_kernel(data): ...\n"
        with pytest.raises(ClientFailure, match=r"status 400: .*POPCORN"):
            author.accept(submissions.containing(source), board, device, "test")

    def test_a_board_that_contradicts_the_request_is_a_400(
        self, author: PopcornCli, board: str, device: str
    ) -> None:
        source = "#!POPCORN leaderboard another-board\n"
        with pytest.raises(ClientFailure, match=r"status 400: .*another-board"):
            author.accept(submissions.containing(source), board, device, "test")

    def test_a_device_in_the_request_wins(
        self, author: PopcornCli, board: str, device: str
    ) -> None:
        source = f"#!POPCORN leaderboard {board}\n#!POPCORN gpus H100 MI300\n".encode()
        upload = Upload("submission.py", source + submissions.correct().content)
        done = author.submit(upload, board, device, "test")
        assert {device} == {run["runner"] for run in done.details["runs"]}

    def test_compiled_sources_write_them_behind_slashes(
        self, author: PopcornCli, board: str, device: str
    ) -> None:
        upload = Upload("kernel.cu", b"//!POPCORN leaderboard another-board\n")
        with pytest.raises(ClientFailure, match=r"status 400: .*another-board"):
            author.accept(upload, board, device, "test")
