"""Signed results from the terminal: exported from a real server, checked without one."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.live import LiveServer
from tests.support.signed import RESULT, envelope, run, workload
from tests.support.terminal import Shell
from tests.support.workers import finished, quick_settings, working

CODE = b"# fake: accepted 0.5 0.4 0.6\n"


@pytest.fixture
def judged(live: LiveServer, tmp_path: Path) -> int:
    """A ranked submission of ada's."""
    (tmp_path / "mine.py").write_bytes(CODE)

    async def judge() -> int:
        await live.world.board()
        async with working(quick_settings(tmp_path / "data"), live.world.database.url):
            sent = await live.world.submit(content=CODE)
            await finished(live.world, sent.id)
        return sent.id

    return live.call(judge())


def test_a_result_goes_from_the_server_to_somebody_without_one(
    ada: Shell, judged: int, tmp_path: Path
) -> None:
    exported = ada("submission", "attest", str(judged), "--output", "a'; echo x.json")
    again = ada("submission", "attest", str(judged), "--output", "a'; echo x.json")
    replaced = ada("submission", "attest", str(judged), "-o", "a'; echo x.json", "--force")
    assert (0, True) == (replaced.code, "--output, or use --force" in again.err)
    key = ada("signing-key", "list", "--json").document["keys"][0]["public_key"]
    anybody = Shell(tmp_path, {"KERNELBOT_URL": "http://127.0.0.1:1"})
    check = ("verify", "a'; echo x.json", "--key", key)
    said = anybody(*check, "--source", "mine.py")
    other = anybody(*check, "--source", "a'; echo x.json")
    document = anybody(*check, "--json").document
    assert (0, 2, 0, 1) == (exported.code, again.code, said.code, other.code)
    assert said.out.startswith("The signature fits. Key: ")
    assert "Submission 1 by ada to sort: accepted, 500 ms" in said.out
    assert 1 == said.out.count(": score computed again from 3 samples: equal")
    assert (True, [False, True]) == (
        document["pinned"],
        [run["secret"] for run in document["result"]["runs"]],
    )
    assert [("no_score", 0), ("equal", 3)] == [
        (check["computed_again"], check["samples"]) for check in document["scores"]
    ]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (json.dumps(envelope()).encode(), 0),
        (json.dumps(envelope()).replace('"sig": "', '"sig": "AAAA').encode(), 1),
        (b"\xff", 2),
    ],
)
def test_each_answer_is_one_sentence_and_a_code(tmp_path: Path, content: bytes, code: int) -> None:
    (tmp_path / "it.json").write_bytes(content)
    said = Shell(tmp_path, {})("verify", "it.json")
    assert (code, 1 if code else 0) == (said.code, said.err.count("Error:"))
    assert "Traceback" not in said.err
    assert "\x1b" not in said.out


def signed(**more: Any) -> bytes:
    """A document with one run, of these values."""
    payload = {**RESULT, "runs": [run([workload([5e8, 4e8, 6e8])], **more)]}
    return json.dumps(envelope(json.dumps(payload).encode())).encode()


def test_a_score_that_does_not_follow_is_refused_otherwise(tmp_path: Path) -> None:
    (tmp_path / "it.json").write_bytes(signed(score_ci95_s=[0.45, 0.6]))
    said = Shell(tmp_path, {})("verify", "it.json")
    document = Shell(tmp_path, {})("verify", "it.json", "--json").document
    assert (1, "score_does_not_follow") == (said.code, document["error"]["code"])
    assert "Run 7: the score is given as 0.5 s, with the interval 0.45 .. 0.6 s" in said.err


def test_an_older_document_says_that_its_score_was_not_computed_again(tmp_path: Path) -> None:
    (tmp_path / "it.json").write_bytes(signed(ranking_by=None))
    said = Shell(tmp_path, {})("verify", "it.json")
    assert (0, 1) == (said.code, said.out.count("Run 7: score not computed again: the document"))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    said = Shell(tmp_path, {})("verify", "a'; echo x", "--json")
    assert (2, "bad_request") == (said.code, said.document["error"]["code"])
