"""The step of a workflow run, with a harness that tells what it was given."""

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.links import FakeLinks, fake_links

SCRIPT = Path(__file__).resolve().parents[2] / "deploy/github/run_job.py"
PAYLOAD = "c2VjcmV0IHNlZWQ="
TELLS = """
import json, os, sys
event = open(os.environ["GITHUB_EVENT_PATH"]).read()
told = {"args": sys.argv[1:], "stdin": sys.stdin.read(), "event": event, "env": dict(os.environ)}
told["isolated"] = sys.flags.isolated
print(json.dumps(told))
sys.exit(7)
"""
NO_INPUTS = {
    "payload": "",
    "payload_url": "",
    "events_url": "",
    "harness_url": "",
    "harness_sha256": "",
    "sandbox": "required",
}


class Runner:
    """A self-hosted runner's folders."""

    def __init__(self, folder: Path, links: FakeLinks) -> None:
        self.links = links
        self.event = folder / "event.json"
        self.work = folder / "work"
        self.work.mkdir()
        self.cache = folder / "tools" / "kernelbot" / "harness"

    def run(self, **inputs: str) -> subprocess.CompletedProcess[str]:
        named = self.links.for_job("1.1.a", 60)
        linked = {"harness_url": named.harness_url, "harness_sha256": named.harness_sha256}
        self.event.write_text(json.dumps({"inputs": {**NO_INPUTS, **linked, **inputs}}))
        return subprocess.run(
            [sys.executable, str(SCRIPT)],
            cwd=self.work,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            stdin=subprocess.DEVNULL,
            env={
                "PATH": os.environ["PATH"],
                "GITHUB_EVENT_PATH": str(self.event),
                "RUNNER_TOOL_CACHE": str(self.cache.parents[1]),
            },
        )

    def told(self, **inputs: str) -> dict[str, Any]:
        done = self.run(**inputs)
        assert done.returncode == 7, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    harness = tmp_path / "harness.pyz"
    with zipfile.ZipFile(harness, "w") as archive:
        archive.writestr("__main__.py", TELLS)
    with fake_links(harness) as links:
        yield Runner(tmp_path, links)


def test_the_harness_gets_the_job_on_stdin_and_nothing_else_holds_it(runner: Runner) -> None:
    told = runner.told(payload=PAYLOAD)
    assert (told["stdin"], told["isolated"]) == (PAYLOAD, 1)
    assert told["args"] == ["node", "--result", "out/result.json", "--payload", "-"]
    assert (told["event"], runner.event.read_text()) == ("{}\n", "{}\n")
    assert PAYLOAD not in json.dumps([told["env"], told["args"]])


def test_links_are_in_variables_and_on_no_command_line(runner: Runner) -> None:
    told = runner.told(payload_url="https://here/p?key=1", events_url="https://here/e?key=2")
    assert told["args"][3:] == [
        "--payload-url-env",
        "KERNELBOT_PAYLOAD_URL",
        "--events-url-env",
        "KERNELBOT_EVENTS_URL",
    ]
    assert told["env"]["KERNELBOT_PAYLOAD_URL"] == "https://here/p?key=1"
    assert told["env"]["KERNELBOT_EVENTS_URL"] == "https://here/e?key=2"


def test_judging_without_a_sandbox_has_to_be_allowed(runner: Runner) -> None:
    assert "--no-sandbox-ok" not in runner.told(payload=PAYLOAD)["args"]
    assert "--no-sandbox-ok" in runner.told(payload=PAYLOAD, sandbox="optional")["args"]


def test_a_harness_is_fetched_once(runner: Runner) -> None:
    for _ in range(2):
        runner.told(payload=PAYLOAD)
    assert runner.links.fetched == ["/harness.pyz"]
    name = hashlib.sha256(runner.links.harness).hexdigest()
    modes = {path.name: path.stat().st_mode & 0o777 for path in runner.cache.iterdir()}
    assert modes == {name: 0o755, f"{name}.pyz": 0o644}


@pytest.mark.exhaustive  # each run has test_a_harness_is_fetched_once
def test_a_harness_that_somebody_has_changed_is_fetched_again(runner: Runner) -> None:
    runner.told(payload=PAYLOAD)
    (kept,) = runner.cache.glob("*.pyz")
    kept.write_bytes(b"print('hello')")
    runner.told(payload=PAYLOAD)
    assert kept.read_bytes() == runner.links.harness


def test_a_harness_that_cant_be_unpacked_is_used_as_it_is(runner: Runner) -> None:
    """As on a full disk, which nothing may be left on."""
    runner.cache.mkdir(parents=True)
    name = hashlib.sha256(runner.links.harness).hexdigest()
    (runner.cache / f"{name}.pyz").write_bytes(runner.links.harness)
    (runner.cache / name).touch()
    assert PAYLOAD == runner.told(payload=PAYLOAD)["stdin"]
    assert {name, f"{name}.pyz"} == {path.name for path in runner.cache.iterdir()}


def test_a_full_disk_is_left_as_it_was(runner: Runner) -> None:
    writes = "import run_job; run_job.write_whole(run_job.Path('x'), b'y' * 9999)"
    limited = f'ulimit -f 0; exec {sys.executable} -c "{writes}"'
    runner_folder = {"PYTHONPATH": str(SCRIPT.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        ["bash", "-c", f"trap '' XFSZ; {limited}"],
        cwd=runner.work,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], **runner_folder},
    )
    assert ("File too large" in done.stderr, []) == (True, list(runner.work.iterdir()))


def test_another_harness_than_announced_is_not_started(runner: Runner) -> None:
    done = runner.run(payload=PAYLOAD, harness_sha256="0" * 64)
    assert (done.returncode, "another harness than it had announced" in done.stderr) == (1, True)
    assert list(runner.cache.iterdir()) == []


def test_harnesses_of_long_ago_are_removed(runner: Runner) -> None:
    runner.cache.mkdir(parents=True)
    old = runner.cache / f"{'0' * 64}.pyz"
    old.touch()
    old.with_suffix("").mkdir()
    os.utime(old, (0, 0))
    runner.told(payload=PAYLOAD)
    assert (old.exists(), old.with_suffix("").exists()) == (False, False)


@pytest.mark.exhaustive  # each run has test_a_harness_is_fetched_once
def test_a_platform_that_fails_for_a_moment_is_asked_again(runner: Runner) -> None:
    runner.links.broken = 1
    assert runner.told(payload=PAYLOAD)["stdin"] == PAYLOAD


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/?key=secret", "a'; echo secret", "file:///x"])
def test_a_platform_that_isnt_there_is_told_without_the_link(runner: Runner, url: str) -> None:
    slow = SCRIPT.read_text().replace("2.0 ** (number - 1)", "0")
    quick = runner.work / "run_job.py"
    quick.write_text(slow)
    done = subprocess.run(
        [sys.executable, "-c", f"import run_job; run_job.fetch({url!r})"],
        cwd=runner.work,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "secret" in done.stdout + done.stderr) == (1, False)
    assert "Can this machine reach the platform's public_url?" in done.stderr


def test_what_the_job_before_left_is_gone(runner: Runner) -> None:
    (runner.work / "out").mkdir()
    (runner.work / "out" / "result.json").write_text("of another job")
    runner.told(payload=PAYLOAD)
    assert list((runner.work / "out").iterdir()) == []


def test_the_event_is_emptied_even_if_nothing_can_be_judged(runner: Runner) -> None:
    runner.run(payload=PAYLOAD, harness_sha256="0" * 64)
    assert runner.event.read_text() == "{}\n"
