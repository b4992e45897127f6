"""A payload that is only a program to start, read with suspicion and run in the sandbox."""

import base64
import json
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from kernelbot.harness.host.minimal_payload import (
    LARGEST_BYTES,
    BadPayload,
    NotMinimal,
    decode,
    minimal_job,
)
from kernelbot.protocol import RunResult, Verdict, from_wire, to_wire
from tests.harness.jobs import SORT, a_job
from tests.support.exhaustive import few

HELLO = "print('Hello GPU!')"


def document(**changes: Any) -> dict[str, Any]:
    plain = {"lang": "py", "mode": "test", "files": {"main.py": HELLO}}
    return {**plain, "tests": [], "benchmarks": [], **changes}


def packed(content: bytes) -> bytes:
    return base64.b64encode(zlib.compress(content))


def test_a_payload_travels_packed_or_plain() -> None:
    text = json.dumps(document()).encode()
    assert [document(), document()] == [decode(text + b"\n"), decode(packed(text))]


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (b"", "ends in the middle"),
        (b"Hello GPU!", "base64"),
        (base64.b64encode(b"{}"), "zlib"),
        (packed(b"{"), "isn't JSON"),
        (b"{\xff}", "isn't JSON"),
        (packed(b'{"a":' * 100_000), "isn't JSON"),
        (packed(b" " * (LARGEST_BYTES + 1)), "larger than 16 MiB"),
        (base64.b64encode(zlib.compress(b"{}" * 999)[:-9]), "ends in the middle"),
    ],
)
def test_what_cannot_be_read_says_why(payload: bytes, why: str) -> None:
    with pytest.raises(BadPayload, match=why):
        decode(payload)


@pytest.mark.parametrize(
    "changes",
    [
        {"tests": [{"size": 1}]},
        {"benchmarks": "size: 1"},
        {"ranking_by": "last"},
        to_wire(a_job(SORT)),
    ],
)
def test_a_payload_of_another_kind_is_left_to_others(changes: dict[str, Any]) -> None:
    with pytest.raises(NotMinimal):
        minimal_job(document(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"lang": "cu"},
        {"mode": "leaderboard"},
        {"mode": None},
        {"files": []},
        {"files": {}},
        {"files": {"main.py": 1}},
        {"files": {"main.py": "\ud800"}},
        *(
            {"files": {"main.py": HELLO, name: ""}}
            for name in (
                "../../etc/passwd",
                "/etc/passwd",
                "..",
                "",
                "a\nb",
                "\ud800",
                "x" * 101,
                "kernelbot_start.py",
            )
        ),
    ],
)
def test_values_that_make_no_sense_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(BadPayload):
        minimal_job(document(**changes))


@pytest.mark.parametrize("value", [None, [], "main.py", 1])
def test_a_payload_is_an_object(value: Any) -> None:
    with pytest.raises(BadPayload, match="object"):
        minimal_job(value)


def test_files_beside_the_program_come_along() -> None:
    job = minimal_job(document(files={"main.py": HELLO, "a'; echo x": "data"}))
    assert {"a'; echo x": "data"}.items() <= {f.name: f.text for f in job.problem.files}.items()


def run(payload: bytes, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "payload").write_bytes(payload)
    command = [sys.executable, "-P", "-m", "kernelbot.harness", "minimal"]
    command += ["--payload", str(folder / "payload"), "--result", str(folder / "result.json")]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def result_of(folder: Path) -> RunResult:
    return from_wire(RunResult, json.loads((folder / "result.json").read_text()))


@pytest.mark.exhaustive  # each run has test_without_a_minimal_payload_nothing_is_written
def test_the_program_runs_in_the_sandbox(tmp_path: Path) -> None:
    files = {"main.py": "import os\nprint(open('note').read(), os.getuid())", "note": "Hello GPU!"}
    ended = run(packed(json.dumps(document(files=files)).encode()), tmp_path)
    assert (0, "Hello GPU! 1000\n") == (ended.returncode, ended.stdout), ended.stderr
    result = result_of(tmp_path)
    assert (Verdict.ACCEPTED, "bubblewrap") == (result.verdict, result.sandbox.mode)


@pytest.mark.exhaustive  # each run has test_without_a_minimal_payload_nothing_is_written
@pytest.mark.parametrize(
    ("program", "verdict"),
    few(
        [
            ("print(", Verdict.COMPILE_ERROR),
            ("raise SystemExit(3)", Verdict.RUNTIME_ERROR),
            ("import os; os.kill(os.getpid(), 9)", Verdict.RUNTIME_ERROR),
        ],
        1,
    ),
)
def test_a_program_that_fails_is_not_accepted(
    tmp_path: Path, program: str, verdict: Verdict
) -> None:
    ended = run(json.dumps(document(files={"main.py": program})).encode(), tmp_path)
    assert (0, verdict) == (ended.returncode, result_of(tmp_path).verdict), ended.stderr


@pytest.mark.parametrize(
    ("payload", "code"), [(b"nonsense", 2), (json.dumps(to_wire(a_job(SORT))).encode(), 4)]
)
def test_without_a_minimal_payload_nothing_is_written(
    tmp_path: Path, payload: bytes, code: int
) -> None:
    ended = run(payload, tmp_path)
    assert (code, "", ["payload"]) == (
        ended.returncode,
        ended.stdout,
        [path.name for path in tmp_path.iterdir()],
    )
