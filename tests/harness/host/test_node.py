"""One job on a scheduler's node: the harness as one file, and what becomes of its payload."""

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kernelbot.harness.archive import build
from kernelbot.protocol import (
    DeviceSpec,
    EventKind,
    Fault,
    RunResult,
    SandboxMode,
    Vendor,
    Verdict,
    encode_payload,
    from_wire,
)
from tests.support.exhaustive import cases
from tests.support.searching import MARK, bare_job, searching_submission
from tests.support.warm import below, pids_of_judges

OUR_TOKEN = "token_of_ours"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("archive") / "kernelbot-harness.pyz")


class Node:
    """A node's folder with a harness in it."""

    def __init__(self, archive: Path, folder: Path) -> None:
        self.archive = archive
        self.folder = folder
        self.payload = folder / "payload"
        self.result = folder / "result.json"
        self.events = folder / "events.jsonl"

    def command(self, *options: str) -> list[str]:
        common = ["--result", str(self.result), "--locks", str(self.folder / "locks")]
        return [sys.executable, "-I", str(self.archive), "node", *common, *options]

    def run(self, payload: str, *options: str) -> RunResult:
        self.payload.write_text(payload)
        command = self.command("--payload", str(self.payload), *options)
        self.ended = subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=False, cwd="/"
        )
        return self.answer()

    def answer(self) -> RunResult:
        return from_wire(RunResult, json.loads(self.result.read_text()))


@pytest.fixture
def node(archive: Path, tmp_path: Path) -> Node:
    return Node(archive, tmp_path)


@pytest.mark.exhaustive
def test_a_job_comes_in_and_a_result_goes_out(node: Node) -> None:
    result = node.run(encode_payload(bare_job()), "--events", str(node.events))
    kinds = [json.loads(line)["kind"] for line in node.events.read_text().splitlines()]
    assert (result.job_id, result.verdict) == ("7.1.abc", Verdict.ACCEPTED), node.ended.stderr
    assert (kinds[0], kinds[-1]) == (EventKind.STARTED, EventKind.FINISHED)
    assert (node.ended.returncode, node.payload.exists()) == (0, False)


@pytest.mark.exhaustive
def test_an_authors_mistake_is_theirs(node: Node) -> None:
    result = node.run(encode_payload(bare_job("def custom_kernel(data):\n    return 7\n")))
    assert result.failure is not None
    assert (result.failure.fault, result.attempt_lost) == (Fault.AUTHOR, False)


@pytest.mark.exhaustive
def test_a_payload_may_come_on_standard_input(node: Node) -> None:
    subprocess.run(
        node.command("--payload", "-"),
        input=encode_payload(bare_job()).encode(),
        timeout=60,
        check=True,
    )
    assert node.answer().verdict == Verdict.ACCEPTED


@pytest.mark.parametrize("payload", ["", "nonsense", "e30="])
def test_what_is_no_payload_is_told(node: Node, payload: str) -> None:
    result = node.run(payload)
    assert (node.ended.returncode, result.job_id, result.attempt_lost) == (2, "", True)
    assert result.failure is not None
    assert "can't be read" in result.failure.message


def test_a_payload_that_isnt_there_is_told(node: Node) -> None:
    ended = subprocess.run(node.command("--payload", "/nowhere"), timeout=60, check=False)
    assert (ended.returncode, node.answer().attempt_lost) == (2, True)


@pytest.mark.exhaustive
def test_a_result_that_cant_be_written_is_an_error(node: Node) -> None:
    node.result = node.folder / "nowhere" / "result.json"
    node.payload.write_text(encode_payload(bare_job()))
    ended = subprocess.run(
        node.command("--payload", str(node.payload)), capture_output=True, timeout=60, check=False
    )
    assert (ended.returncode, b"can't be written" in ended.stderr) == (1, True)


@pytest.mark.exhaustive
def test_a_job_without_a_sandbox_is_refused_here(node: Node) -> None:
    job = dataclasses.replace(bare_job(), sandbox=SandboxMode.NONE)
    result = node.run(encode_payload(job))
    assert result.failure is not None
    assert (result.verdict, result.failure.fault) == (Verdict.INTERNAL_ERROR, Fault.PLATFORM)


@pytest.mark.exhaustive
def test_a_node_that_is_stopped_says_that_the_attempt_is_lost(node: Node) -> None:
    source = "import time\ndef custom_kernel(data):\n    time.sleep(60)\n"
    node.payload.write_text(encode_payload(bare_job(source)))
    command = node.command("--payload", str(node.payload), "--events", str(node.events))
    with subprocess.Popen(command) as running:
        _until_judging(node)
        running.send_signal(signal.SIGTERM)
        running.wait(60)
    result = node.answer()
    assert result.failure is not None
    assert (result.attempt_lost, "told to stop" in result.failure.message) == (True, True)


@pytest.mark.exhaustive
def test_a_node_that_is_stopped_leaves_its_host(node: Node) -> None:
    source = "import time\ndef custom_kernel(data):\n    time.sleep(60)\n"
    node.payload.write_text(encode_payload(bare_job(source)))
    warm = ["--warm", str(node.folder / "host"), "--warm-idle-s", "60"]
    command = node.command("--payload", str(node.payload), "--events", str(node.events), *warm)
    with subprocess.Popen(command) as running:
        _until_judging(node)
        running.send_signal(signal.SIGTERM)
        running.wait(60)
    result = node.answer()
    hosts = pids_of_judges(node.folder / "host")
    for pid in hosts:
        os.kill(pid, signal.SIGTERM)
    assert result.failure is not None
    assert (result.attempt_lost, "told to stop" in result.failure.message) == (True, True)
    assert 1 == len(hosts)


@pytest.mark.exhaustive
def test_where_no_host_can_stay_the_node_judges_by_itself(node: Node) -> None:
    (node.folder / "host").mkdir(mode=0o755)
    result = node.run(encode_payload(bare_job()), "--warm", str(node.folder / "host"))
    assert (Verdict.ACCEPTED, []) == (result.verdict, list((node.folder / "host").iterdir()))
    assert "Other accounts can enter" in node.ended.stderr


def _until_judging(node: Node) -> None:
    deadline = time.monotonic() + 60
    while not (node.events.exists() and "phase_started" in node.events.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_gpu_that_is_taken_loses_the_attempt(node: Node) -> None:
    from kernelbot.harness.gpu.lock import gpus_locked
    from kernelbot.harness.host.node import FilePayload, NodeOptions, NoSink, run_node

    job = dataclasses.replace(bare_job(), device=DeviceSpec("H100", Vendor.NVIDIA))
    node.payload.write_text(encode_payload(job))
    options = NodeOptions(node.result, ("0",), node.folder, lock_wait_s=0)
    environment = dict(os.environ)
    with gpus_locked(Vendor.NVIDIA, ("0",), node.folder, 0):
        run_node(FilePayload(str(node.payload)), NoSink(), options)
    os.environ.update(environment)
    result = node.answer()
    assert (result.attempt_lost, result.failure and "GPU 0" in result.failure.message) == (
        True,
        True,
    )


def given_to_processes(pid: int) -> bytes:
    """The environments and command lines of the process and of all below it; those that end
    meanwhile have none."""
    found = b""
    for each in (pid, *below(pid)):
        for name in ("environ", "cmdline"):
            with contextlib.suppress(OSError):
                found += Path(f"/proc/{each}/{name}").read_bytes()
    return found


@pytest.mark.parametrize("way", cases(["file", "environment"], always=["environment"]))
def test_an_author_finds_no_secret(node: Node, way: str) -> None:
    source = searching_submission(["/tmp", "/dev/shm", str(node.folder)], [MARK, OUR_TOKEN])
    text = encode_payload(bare_job(source, secret=True))
    if way == "file":
        node.payload.write_text(text)
        options = node.command("--payload", str(node.payload))
    else:
        options = node.command("--payload-env", "SUBMISSION_PAYLOAD")
    environment = {**os.environ, "OUR_TOKEN": OUR_TOKEN, "SUBMISSION_PAYLOAD": text}
    subprocess.run(options, env=environment, timeout=60, check=True)
    result = node.answer()
    assert result.verdict == Verdict.ACCEPTED, result.failure


@pytest.mark.exhaustive
def test_no_secret_is_left_on_the_node_while_the_author_runs(node: Node) -> None:
    source = "import time\ndef custom_kernel(data):\n    time.sleep(60)\n"
    text = encode_payload(bare_job(source, secret=True))
    node.payload.write_text(text)
    command = node.command("--payload", str(node.payload), "--events", str(node.events))
    environment = {**os.environ, "OUR_TOKEN": OUR_TOKEN, "SUBMISSION_PAYLOAD": text}
    with subprocess.Popen(command, env=environment) as running:
        _until_judging(node)
        left = [path for path in node.folder.rglob("*") if path.is_file()]
        texts = b"".join(path.read_bytes() for path in left)
        seen = given_to_processes(running.pid) + texts
        running.send_signal(signal.SIGTERM)
        running.wait(60)
    assert [mark for mark in (OUR_TOKEN, MARK, text[:64]) if mark.encode() in seen] == []
