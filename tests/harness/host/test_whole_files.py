"""What is written whole, and which of it is on disk before anybody hears of it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelbot.harness.host.whole_files import write_whole
from kernelbot.protocol import SandboxMode, to_wire
from tests.harness.jobs import SORT, a_job
from tests.support.exhaustive import few

TELLS_WHAT_IS_SYNCED = """
import os
def fsync(fd):
    with open({log!r}, "a") as log:
        print(os.path.basename(os.readlink(f"/proc/self/fd/{{fd}}")), file=log)
os.fsync = fsync
"""


@pytest.mark.parametrize(
    ("durable", "synced"), [(False, []), (True, [".result.json.partial", "jobs"])]
)
def test_a_file_is_there_whole_and_on_disk_if_it_is_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durable: bool, synced: list[str]
) -> None:
    folder = tmp_path / "jobs"
    folder.mkdir()
    found: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda fd: found.append(_name_of(fd)))
    write_whole(folder / "result.json", "a'; echo x\n", durable=durable)
    assert synced == found
    assert {"result.json": "a'; echo x\n"} == {p.name: p.read_text() for p in folder.iterdir()}


def _name_of(fd: int) -> str:
    return Path(f"/proc/self/fd/{fd}").readlink().name


def _refused_job() -> str:
    """A job whose result says that this host doesn't judge it, which takes no sandbox."""
    return json.dumps({**to_wire(a_job(SORT)), "sandbox": SandboxMode.NONE.value})


def _judged_here(folder: Path, python: Callable[..., subprocess.Popen[str]]) -> Path:
    (folder / "jobspec.json").write_text(_refused_job())
    host = python()
    assert host.stdin is not None
    assert host.stdout is not None
    print(json.dumps({"run": str(folder)}), file=host.stdin, flush=True)
    host.stdout.readline()  # it has ended
    host.communicate()
    return folder


def _judged_on_a_node(folder: Path, python: Callable[..., subprocess.Popen[str]]) -> Path:
    for name in ("waiting", "jobs", "done", "cancels"):
        (folder / name).mkdir()
    (folder / "waiting" / "0123-100-7").mkdir()
    (folder / "waiting" / "0123-100-7" / "jobspec.json").write_text(_refused_job())
    options = ("--jobs", str(folder), "--needs", "0123", "--node", "1")
    python(*options).communicate()
    return folder / "jobs" / "7"


@pytest.mark.parametrize(
    ("judged", "synced"),
    few([(_judged_on_a_node, ".result.json.partial\n7\n"), (_judged_here, "")], 1),
)
def test_only_results_that_another_machine_reads_are_synced(
    tmp_path: Path,
    judged: Callable[[Path, Callable[..., subprocess.Popen[str]]], Path],
    synced: str,
) -> None:
    """A sync takes milliseconds, in which a slot judges nothing."""
    log, folder, patch = (tmp_path / name for name in ("synced", "jobs", "patch"))
    log.touch()
    folder.mkdir()
    patch.mkdir()
    (patch / "sitecustomize.py").write_text(TELLS_WHAT_IS_SYNCED.format(log=str(log)))

    def python(*options: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "kernelbot.harness", "host", *options],
            env={**os.environ, "PYTHONPATH": str(patch)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    assert (judged(folder, python) / "result.json").exists()
    assert synced == log.read_text()
