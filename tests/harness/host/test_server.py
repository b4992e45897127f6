"""The long-lived host: jobs by folder, results written whole, nothing left behind."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from kernelbot.harness.inside.own_folders import inside
from kernelbot.protocol import JobSpec, RunResult, Timeouts, Verdict, from_wire, to_wire
from tests.harness.jobs import SORT, a_job, a_problem

_FOUND = find_spec("torch")
TORCH = _FOUND.origin if _FOUND else None
"""Where it is: the sandbox has a /tmp of its own, and shows what is installed there elsewhere."""


class RunningHost:
    def __init__(self, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kernelbot.harness", "host", "--warm", "numpy", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def say(self, message: dict[str, str]) -> None:
        assert self.process.stdin is not None
        print(json.dumps(message), file=self.process.stdin, flush=True)

    def until_finished(self) -> list[dict[str, Any]]:
        assert self.process.stdout is not None
        told = []
        for line in self.process.stdout:
            told.append(json.loads(line))
            if told[-1].get("finished"):
                break
        return told

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


@pytest.fixture(scope="module")
def host() -> Iterator[RunningHost]:
    running = RunningHost()
    yield running
    running.close()


def folder_of(job: JobSpec, folder: Path) -> Path:
    (folder / "jobspec.json").write_text(json.dumps(to_wire(job)))
    return folder


def test_events_and_result_are_in_the_folder_and_on_stdout(
    host: RunningHost, tmp_path: Path
) -> None:
    host.say({"run": str(folder_of(a_job(SORT), tmp_path))})
    told = host.until_finished()
    written = (tmp_path / "events.jsonl").read_text().splitlines()
    assert [message["event"] for message in told[:-1]] == [json.loads(line) for line in written]
    result = from_wire(RunResult, json.loads((tmp_path / "result.json").read_text()))
    assert Verdict.ACCEPTED == result.verdict
    assert {"events.jsonl", "jobspec.json", "result.json"} == {p.name for p in tmp_path.iterdir()}
    assert b"" == (tmp_path / "jobspec.json").read_bytes()  # which held secrets


def test_a_host_answers_whoever_asks_whether_it_lives(host: RunningHost) -> None:
    assert host.process.stdout is not None
    host.say({"ping": "a'; echo x"})
    assert {"pong": "a'; echo x"} == json.loads(host.process.stdout.readline())


def test_a_cancelled_job_ends_at_once_without_a_result(host: RunningHost, tmp_path: Path) -> None:
    """Long before its limit, which is longer than pytest waits for a test."""
    limits = Timeouts(test_s=600, benchmark_s=600, ranked_s=600, compile_s=600)
    job = a_job("import time\ntime.sleep(600)\n", problem=a_problem(timeouts=limits))
    host.say({"run": str(folder_of(job, tmp_path))})
    assert host.process.stdout is not None
    assert "event" in json.loads(host.process.stdout.readline())  # it has begun
    host.say({"cancel": str(tmp_path)})
    assert {"job": str(tmp_path), "finished": True, "cancelled": True} == host.until_finished()[-1]
    assert not (tmp_path / "result.json").exists()


def test_a_folder_that_holds_no_job_is_answered(host: RunningHost, tmp_path: Path) -> None:
    host.say({"run": str(tmp_path)})
    assert "jobspec.json" in host.until_finished()[-1]["error"]


def test_what_nobody_foresaw_is_answered(host: RunningHost, tmp_path: Path) -> None:
    deep = "[" * 400 + "]" * 400
    text = json.dumps(to_wire(a_job(SORT))).replace('"args": {', f'"args": {{"deep": {deep}, ', 1)
    (tmp_path / "jobspec.json").write_text(text)
    host.say({"run": str(tmp_path)})
    assert "RecursionError" in host.until_finished()[-1]["error"]


def test_a_job_without_a_sandbox_needs_the_hosts_consent(host: RunningHost, tmp_path: Path) -> None:
    job = {**to_wire(a_job(SORT)), "sandbox": "none"}
    (tmp_path / "jobspec.json").write_text(json.dumps(job))
    host.say({"run": str(tmp_path)})
    host.until_finished()
    result = from_wire(RunResult, json.loads((tmp_path / "result.json").read_text()))
    assert Verdict.INTERNAL_ERROR == result.verdict


def test_nonsense_on_stdin_harms_no_later_job(host: RunningHost, tmp_path: Path) -> None:
    assert host.process.stdin is not None
    host.process.stdin.write("nonsense\n[]\n{}\n5\n")
    host.say({"run": str(folder_of(a_job(SORT), tmp_path))})
    assert True is host.until_finished()[-1]["finished"]


@pytest.mark.exhaustive  # each run has test_events_and_result_are_in_the_folder_and_on_stdout
def test_it_ends_when_stdin_ends_though_a_job_runs(tmp_path: Path) -> None:
    running = RunningHost()
    running.say({"run": str(folder_of(a_job("while True: pass\n"), tmp_path))})
    time.sleep(1)
    running.close()
    assert 0 == running.process.returncode


# Each run has test_prepared_runners_end_with_who_prepared_them (inside/test_forker.py)
@pytest.mark.exhaustive
@pytest.mark.torch
@pytest.mark.timed  # so that nobody else's measuring has the header wait
@pytest.mark.skipif(shutil.which("c++") is None, reason="g++ isn't installed")
@pytest.mark.skipif(TORCH is None or inside(TORCH) != TORCH, reason="no torch, or below /tmp")
def test_it_leaves_no_compiler_of_torchs_header_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler, told = tmp_path / "bin" / "c++", tmp_path / "pid"
    compiler.parent.mkdir()
    compiler.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *c++-header*) echo $$ > {told}.new; mv {told}.new {told}; exec sleep 600;;\n'
        f'*) exec {shutil.which("c++")} "$@";; esac\n'
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(compiler.parent), os.environ["PATH"]]))
    running = RunningHost("--no-turns", "--build-cache", str(tmp_path / "cache"))
    source = "from torch.utils.cpp_extension import load_inline\nload_inline('a', '')\n"
    running.say({"run": str(folder_of(a_job(source), tmp_path))})
    deadline = time.monotonic() + 180
    while not told.exists():
        assert time.monotonic() < deadline, "no header is compiled"
        time.sleep(0.02)
    assert running.process.stdin is not None
    running.process.stdin.close()
    running.process.terminate()  # as launchers do
    running.close()
    compiling = Path(f"/proc/{told.read_text().strip()}")
    is_there = compiling.exists()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(int(compiling.name), signal.SIGKILL)
    assert not is_there
