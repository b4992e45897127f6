"""Whole episodes over a real WebSocket and real HTTP, with a scripted policy."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import httpx
import pyarrow.parquet
import pytest
from websockets.exceptions import ConnectionClosed

from tests.environment.examples import EXAMPLES
from tests.environment.wire import MAX_BYTES, Served
from tests.library.sources import HOSTILE, RIGHT, WRONG
from tests.support.warm import busy_runners

DIFF = "@@ -1,2 +1,2 @@\n-def custom_kernel(data):\n+def custom_kernel(it):\n     return data[0]\n"
LONG_ID = json.dumps({"type": "reset", "data": {"episode_id": "x" * 256}})
REPAIRED = """\
--- a/submission.py
+++ b/submission.py
@@ -1,2 +1,3 @@
+import numpy as np
 def custom_kernel(data):
-    return data[0]
+    return data[0] * np.float32(data[1])
"""


def test_an_episode_goes_from_the_task_over_a_wrong_source_to_a_right_one(server: Served) -> None:
    with server.talk() as talk:
        first = talk.reset(seed=3, episode_id="mine")
        assert (None, False, {"episode_id": "mine", "seed": 3}) == (
            first["reward"],
            first["done"],
            first["metadata"],
        )
        seen = first["observation"]
        assert ("sums", "train", 0, "py", "submission.py") == (
            *(seen["task"][name] for name in ("id", "split", "index", "language", "file_name")),
        )
        assert "You have 3 attempts" in seen["text"]
        assert "def custom_kernel" in seen["text"]  # the starter file
        wrong = talk.step(WRONG)
        assert (0.0, False, 1, 2) == (
            wrong["reward"],
            wrong["done"],
            wrong["observation"]["attempt"],
            wrong["observation"]["attempts_left"],
        )
        report = wrong["observation"]["report"]
        assert ("wrong_answer", "author", 3) == (
            report["verdict"],
            report["fault"],
            report["tests_total"],
        )
        assert "elements are off" in report["tests"][0]["message"]
        assert "wrong answer" in wrong["observation"]["text"]
        assert "1 attempt of 3 used" in wrong["observation"]["text"]
        right = talk.step(REPAIRED, kind="diff")
        assert (1.0, True, {"attempt": 2, "reward": 1.0, "score_s": None}) == (
            right["reward"],
            right["done"],
            right["observation"]["best"],
        )
        assert ("mine", 2, True, 0) == (
            *(talk.state()[name] for name in ("episode_id", "step_count", "done", "attempts_left")),
        )
        over = talk.step(RIGHT)
        assert ("EXECUTION_ERROR", "This episode is over. Reset, to begin another one.") == (
            over["code"],
            over["message"],
        )
        assert 0 == talk.reset()["observation"]["attempt"]


@pytest.mark.timeout(400)  # as `_ANSWER_S`
@pytest.mark.exhaustive
def test_whatever_a_source_does_it_is_answered_and_the_session_goes_on(server: Served) -> None:
    with server.talk() as talk:
        for source in HOSTILE.values():
            talk.reset()
            answer = talk.step(source)
            assert 0.0 == answer["reward"], answer
            assert answer["observation"]["report"]["message"]
        talk.reset()
        assert 1.0 == talk.step(RIGHT)["reward"]


@pytest.mark.parametrize(
    ("said", "source", "kind"),
    [
        ("larger than 1 MiB", "#" * 10_000_000, "source"),
        ("isn't a unified diff", RIGHT, "diff"),
        ("fits nowhere", DIFF, "diff"),
        ("isn't a unified diff", "\0", "diff"),
        ("character 5 can't be written in UTF-8", "x = '\ud800'", "source"),
    ],
    ids=["10 MB", "no diff", "another file's diff", "NUL", "half of a pair"],
)
def test_an_action_that_is_no_source_uses_up_an_attempt_and_is_explained(
    server: Served, said: str, source: str, kind: str
) -> None:
    with server.talk() as talk:
        talk.reset()
        answer = talk.step(source, kind=kind)
        seen = answer["observation"]
        assert said in seen["refusal"]
        assert seen["refusal"] in seen["text"]
        assert (0.0, None, 2) == (answer["reward"], seen["report"], seen["attempts_left"])
        assert 1.0 == talk.step(RIGHT)["reward"]


@pytest.mark.parametrize(
    ("code", "said", "message"),
    [
        ("INVALID_JSON", "isn't JSON", "{"),
        ("INVALID_JSON", "isn't JSON", ""),
        ("INVALID_JSON", "isn't JSON", b"\xff\x00"),
        ("INVALID_JSON", "isn't JSON", "[" * 100_000),
        ("UNKNOWN_TYPE", "whose `type` is reset, step, state or close", "[]"),
        ("UNKNOWN_TYPE", "whose `type` is reset, step, state or close", '{"type": "mcp"}'),
        ("VALIDATION_ERROR", "data is missing", '{"type": "step"}'),
        ("VALIDATION_ERROR", "data.source is missing", '{"type": "step", "data": {}}'),
        ("VALIDATION_ERROR", "must be text", '{"type": "step", "data": {"source": 1}}'),
        ("VALIDATION_ERROR", "isn't known", '{"type": "step", "data": {"source": "", "x": 1}}'),
        ("VALIDATION_ERROR", "at least 0", '{"type": "reset", "data": {"seed": -1}}'),
        ("VALIDATION_ERROR", "at most 255", LONG_ID),
        ("EXECUTION_ERROR", "No episode has begun", '{"type": "step", "data": {"source": ""}}'),
        ("EXECUTION_ERROR", "no split 'x'", '{"type": "reset", "data": {"split": "x"}}'),
    ],
)  # fmt: skip
def test_a_message_that_cannot_be_read_is_answered_and_the_session_goes_on(
    server: Served, code: str, said: str, message: str | bytes
) -> None:
    with server.talk() as talk:
        answer = talk.say_text(message)
        assert ("error", code) == (answer["type"], answer["data"]["code"])
        assert said in answer["data"]["message"]
        assert talk.reset(unknown="is passed over")["observation"]["task"]


def test_a_message_beyond_the_largest_ends_its_connection_alone(server: Served) -> None:
    with server.talk() as talk, server.talk() as other:
        with pytest.raises(ConnectionClosed) as closed:
            talk.say_text("x" * (MAX_BYTES // 2))
        assert closed.value.rcvd is None or 1009 == closed.value.rcvd.code
        assert other.reset()["observation"]["task"]


# Each run has test_an_episode_goes_from_the_task_over_a_wrong_source_to_a_right_one
@pytest.mark.exhaustive
def test_of_two_hundred_sessions_a_hundred_are_told_that_there_is_no_room(server: Served) -> None:
    with ExitStack() as stack:
        kept = [stack.enter_context(server.talk()) for _ in range(100)]
        for _ in range(100):
            with server.talk() as refused:
                answer = refused.hear()
                assert ("error", "CAPACITY_REACHED", 100) == (
                    answer["type"],
                    answer["data"]["code"],
                    answer["data"]["max_sessions"],
                )
                assert "All 100 sessions of this server are taken" in answer["data"]["message"]
        over_http = server.post("/reset")
        assert (503, "unavailable") == (over_http.status_code, over_http.json()["code"])
        assert {0} == {talk.reset()["observation"]["attempt"] for talk in kept}
    _eventually(lambda: server.post("/reset").status_code == 200)


# Each run has test_one_that_leaves_is_not_and_the_work_has_ended (test_departing.py).
@pytest.mark.exhaustive
@pytest.mark.timeout(400)  # as `_ANSWER_S`
def test_a_client_that_leaves_ends_what_is_judged_for_it(
    server: Served, records: Path, home: Path
) -> None:
    _eventually(lambda: not busy_runners(home))
    with server.talk() as talk:
        talk.reset(episode_id="left")
        talk.connection.send(json.dumps({"type": "step", "data": {"source": HOSTILE["hangs"]}}))
        _eventually(lambda: busy_runners(home))
    with server.talk() as other:  # this one begins later, and is judged for as long
        other.reset(episode_id="stayed")
        assert "time_limit" == other.step(HOSTILE["hangs"])["observation"]["report"]["verdict"]
    _eventually(lambda: "stayed" in _recorded(records))
    assert "left" not in _recorded(records)


# Each run has test_an_episode_goes_from_the_task_over_a_wrong_source_to_a_right_one
@pytest.mark.exhaustive
def test_an_action_over_http_whose_client_leaves_is_not_counted(server: Served, home: Path) -> None:
    _eventually(lambda: not busy_runners(home))
    name = server.post("/reset").json()["metadata"]["episode_id"]
    body = {"episode_id": name, "action": {"source": HOSTILE["hangs"]}}
    with socket.create_connection(("127.0.0.1", int(server.url.rsplit(":", 1)[1]))) as leaving:
        leaving.sendall(_posted("/step", json.dumps(body).encode()))
        _eventually(lambda: busy_runners(home))
    again = {"episode_id": name, "action": {"source": RIGHT}}
    answers = list[httpx.Response]()

    def is_answered() -> bool:
        answers.append(server.post("/step", again))
        return answers[-1].status_code != 409  # it is judging the other action

    _eventually(is_answered)
    assert (1.0, 1) == (answers[-1].json()["reward"], answers[-1].json()["observation"]["attempt"])


def _posted(path: str, body: bytes) -> bytes:
    lines = (
        f"POST {path} HTTP/1.1",
        "Host: 127.0.0.1",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    )
    return "\r\n".join((*lines, "", "")).encode() + body


def test_an_episode_over_http_is_named_by_its_id(server: Served) -> None:
    begun = server.post("/reset", {"seed": 1}).json()
    name = begun["metadata"]["episode_id"]
    wrong = server.post("/step", {"episode_id": name, "action": {"source": WRONG}}).json()
    assert (0.0, 2) == (wrong["reward"], wrong["observation"]["attempts_left"])
    assert 1 == server.get("/state", episode_id=name).json()["step_count"]
    right = server.post("/step", {"episode_id": name, "action": {"source": RIGHT}}).json()
    assert (1.0, True) == (right["reward"], right["done"])
    over = server.post("/step", {"episode_id": name, "action": {"source": RIGHT}})
    assert (404, "not_found") == (over.status_code, over.json()["code"])
    assert (None, 0) == (
        *(server.get("/state").json()[key] for key in ("episode_id", "step_count")),
    )


def test_judging_over_http_ends_with_its_time_and_counts_nothing(server: Served) -> None:
    name = server.post("/reset").json()["metadata"]["episode_id"]
    body = {"episode_id": name, "action": {"source": HOSTILE["hangs"]}, "timeout_s": 0.2}
    late = server.post("/step", body)
    assert (503, True) == (late.status_code, "within 0.2 s" in late.json()["detail"])
    assert 0 == server.get("/state", episode_id=name).json()["step_count"]


@pytest.mark.parametrize(
    ("status", "path", "body"),
    [
        (413, "/step", b"x" * (17 << 20)),
        (422, "/step", b"{"),
        (422, "/step", {"action": {"source": "x"}}),
        (422, "/step", {"action": "x", "episode_id": "x"}),
        (404, "/step", {"action": {"source": "x"}, "episode_id": "x"}),
        (422, "/reset", {"seed": "x"}),
        (404, "/reset", {"split": "test"}),
        (400, "/reset", {"split": "train", "index": 1}),
        (404, "/nope", {}),
    ],
)
def test_a_request_that_cannot_be_answered_has_a_sentence(
    server: Served, status: int, path: str, body: object
) -> None:
    answer = server.post(path, body)
    assert status == answer.status_code
    assert len(answer.json()["detail"]) < 500


def test_the_tasks_are_found_by_split_and_index(server: Served) -> None:
    summary = {"id": "sums", "split": "train", "index": 0, "problem": "sums"}
    assert ["kernelbot"] == server.get("/list_environments").json()
    assert [{"name": "train", "type": "train"}] == server.get("/kernelbot/splits").json()
    assert {"num_tasks": 1} == server.post("/kernelbot/num_tasks", {"split": "train"}).json()
    listed = server.post("/kernelbot/tasks", {"split": "train"}).json()
    assert summary.items() <= listed["tasks"][0].items()
    one = server.post("/kernelbot/task", {"split": "train", "index": 0}).json()["task"]
    assert summary.items() <= one.items()
    assert "def custom_kernel" in one["starters"]["Python"]
    some = server.post("/kernelbot/task_range", {"split": "train", "start": -5}).json()
    assert [one] == some["tasks"]
    assert [404, 404, 400] == [
        server.post("/other/num_tasks", {"split": "train"}).status_code,
        server.post("/kernelbot/num_tasks", {"split": "test"}).status_code,
        server.post("/kernelbot/task", {"split": "train", "index": 1}).status_code,
    ]


def test_it_says_what_it_is_and_what_is_exchanged(server: Served) -> None:
    assert {"status": "healthy"} == server.get("/health").json()
    assert {"name", "description", "version"} == set(server.get("/metadata").json())
    schema = server.get("/schema").json()
    assert (["source"], "SourceAction") == (schema["action"]["required"], schema["action"]["title"])
    assert {"done", "reward", "text", "report"} <= set(schema["observation"]["properties"])
    assert {"episode_id", "step_count"} <= set(schema["state"]["properties"])


@pytest.mark.parametrize(
    ("code", "body"),
    [
        (-32700, b"{"),
        (-32600, {}),
        (-32601, {"jsonrpc": "2.0", "method": "tools/list", "id": 1}),
        (-32601, b'{"method": "tools/list", "id": "\\ud800"}'),
    ],
)
def test_there_are_no_tools(server: Served, code: int, body: object) -> None:
    answer = server.post("/mcp", body)
    assert (200, "2.0", code) == (
        answer.status_code,
        answer.json()["jsonrpc"],
        answer.json()["error"]["code"],
    )


# Each run has test_an_episode_goes_from_the_task_over_a_wrong_source_to_a_right_one
@pytest.mark.exhaustive
def test_what_the_device_cannot_time_is_no_task(home: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "kernelbot", "env", "serve", str(EXAMPLES / "vectoradd_cu")),
            *("--port", "0", "--slots", "2"),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert (2, "") == (done.returncode, done.stdout)
    assert "No task: vectoradd_cu: " in done.stderr
    assert "There is no problem, so there is no task." in done.stderr


def _recorded(records: Path) -> set[str]:
    found: set[str] = set()
    for file in records.glob("*.parquet"):
        found |= set(pyarrow.parquet.read_table(file)["episode_id"].to_pylist())
    return found


def _eventually(is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)
