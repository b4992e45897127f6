"""The harness as one file, run by an interpreter that has nothing else."""

import dataclasses
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kernelbot import __version__
from kernelbot.harness.archive import build, sources_sha256, sources_stamp
from kernelbot.protocol import RunResult, Verdict, from_wire, to_wire
from tests.harness.jobs import a_job, a_problem
from tests.support.terminal import SOURCE

REFERENCE = """
def generate_input(size, seed):
    return [(seed * i) % 101 for i in range(size)]
def check_implementation(data, output):
    return output == sorted(data)
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("archive") / "kernelbot-harness.pyz")


def bare_job() -> dict[str, Any]:
    job = a_job("def custom_kernel(data):\n    return sorted(data)\n")
    return to_wire(dataclasses.replace(job, problem=a_problem(reference=REFERENCE)))


def run(
    archive: Path, job: object, python: str = f"{sys.base_prefix}/bin/python3"
) -> subprocess.CompletedProcess[str]:
    """With the interpreter that our virtual environment was made of: it has no KernelBot."""
    return subprocess.run(
        [python, "-I", str(archive)],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd="/",
    )


def test_the_same_sources_give_the_same_bytes(archive: Path, tmp_path: Path) -> None:
    assert archive.read_bytes() == build(tmp_path / "again.pyz").read_bytes()


def test_a_bare_interpreter_judges_with_it(archive: Path) -> None:
    ended = run(archive, bare_job())
    assert 0 == ended.returncode, ended.stderr
    assert Verdict.ACCEPTED == from_wire(RunResult, json.loads(ended.stdout)).verdict


def test_nodes_with_another_python_judge_with_it(archive: Path) -> None:
    """What they say is read here. One of each release that this machine has."""
    pythons = other_pythons()
    if not pythons:
        pytest.skip("there is no other Python here, of 3.11 or later")
    job = bare_job()
    ended = {release: run(archive, job, python) for release, python in pythons.items()}
    judged = {
        release: one.stderr or from_wire(RunResult, json.loads(one.stdout)).verdict
        for release, one in ended.items()
    }
    assert dict.fromkeys(pythons, Verdict.ACCEPTED) == judged


WHICH_RELEASE = """
import sys
import ctypes, hashlib, mmap, socket, ssl, zlib
if sys.version_info > (3, 11):
    print(*sys.version_info[:2])
"""


def other_pythons() -> dict[str, str]:
    """Interpreters by their release, as `3.13`: those on PATH, and those that pyenv keeps. What
    only pretends to be one (a shim) doesn't answer, nor one that was built without a part of the
    standard library."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    names = [shutil.which(f"python3.{minor}") for minor in range(11, 20)]
    found: dict[str, str] = {}
    for python in [*filter(None, names), *map(str, kept.glob("3.*/bin/python3"))]:
        said = subprocess.run(
            [python, "-I", "-c", WHICH_RELEASE], capture_output=True, text=True, check=False
        )
        if said.returncode == 0 and said.stdout.strip():
            found.setdefault(said.stdout.strip().replace(" ", "."), python)
    found.pop(f"{sys.version_info[0]}.{sys.version_info[1]}", None)
    return found


@pytest.mark.exhaustive
def test_another_version_is_refused_with_a_sentence(archive: Path) -> None:
    ended = run(archive, {**bare_job(), "version": 999})
    assert (3, "") == (ended.returncode, ended.stdout)
    assert "update this side" in ended.stderr


@pytest.mark.exhaustive
def test_a_broken_job_is_bad_usage(archive: Path) -> None:
    ended = run(archive, {**bare_job(), "mode": "dance"})
    assert (2, "") == (ended.returncode, ended.stdout)
    assert "JobSpec.mode: expected one of" in ended.stderr


@pytest.mark.exhaustive
def test_a_result_says_which_harness_judged_it(archive: Path) -> None:
    result = from_wire(RunResult, json.loads(run(archive, bare_job()).stdout))
    assert (__version__, sources_sha256()) == (result.harness_version, result.harness_sha256)


def test_sha256sum_gives_the_hash_of_the_harness() -> None:
    script = (
        "export LC_ALL=C; { echo kernelbot/__init__.py; find kernelbot/harness kernelbot/protocol"
        " -name '*.py' -o -name '*.[ch]'; find kernelbot_check -name '*.py'; }"
        " | sort | xargs sha256sum | sha256sum"
    )
    said = subprocess.run(
        ["bash", "-c", script], cwd=SOURCE, capture_output=True, text=True, check=True
    )
    assert sources_sha256() == said.stdout.split()[0]


def test_the_stamp_changes_with_a_file_that_is_written_again(tmp_path: Path) -> None:
    shutil.copytree(SOURCE, tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    before = stamp_in(tmp_path / "src")
    again = stamp_in(tmp_path / "src")
    file = tmp_path / "src/kernelbot/harness/inside/marks/marks.c"
    file.write_bytes(file.read_bytes())
    assert (True, False) == (before == again, before == stamp_in(tmp_path / "src"))


def stamp_in(folder: Path) -> str:
    """What `sources_stamp` says there, in a process that can load nothing else."""
    code = "from kernelbot.harness.archive import sources_stamp; print(sources_stamp())"
    said = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return said.stdout


def test_what_is_hashed_is_what_is_stamped() -> None:
    ours = [Path(name) for name, *_times in sources_stamp()]
    lines = sorted(
        (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  ", str(path.relative_to(SOURCE)))
        for path in ours
    )
    text = "".join(f"{sha}{name}\n" for sha, name in sorted(lines, key=lambda line: line[1]))
    assert sources_sha256() == hashlib.sha256(text.encode()).hexdigest()
