"""`kernelbot dev` as a process: one session that many saves go through, and one on a terminal."""

import contextlib
import json
import os
import pty
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kernelbot.catalog.skeleton import new_problem
from kernelbot.harness.host.warm.folder import PrivateFolder
from kernelbot.harness.judge.build.on_cpu import KERNELS_ON_CPU_NOTE
from kernelbot.launchers.lockfile import is_held
from kernelbot.protocol import Lang
from tests.support.terminal import COMMAND, Shell, read_until
from tests.support.warm import end_judges

pytestmark = pytest.mark.each_run(
    "test_ctrl_c_while_one_file_is_judged_is_no_fault_of_ours",
    "test_an_unknown_gpu_ends_the_session_before_it_begins",
)

WRONG = "def custom_kernel(data):\n    return None\n"
ENDLESS = "def custom_kernel(data):\n    while True:\n        pass\n"
HOSTILE = "print('\\x1b]0;owned\\x07')\nraise ValueError('\\x1b]0;owned\\x07')\n"
FAST = "[sampling]\nwall_cap_s = 0.3\npatience_s = 3\nmin_total_s = 0.01\nwarmup_s = 0.0\n"
WAIT_S = 60.0
CUDA = Path(__file__).parents[3] / "examples" / "vectoradd_cu"


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    home = tmp_path_factory.mktemp("home")
    new_problem(home / "sums", "sums", Lang.PY)
    (home / "kernelbot.toml").write_text(FAST)
    more = {"XDG_RUNTIME_DIR": str(home), "XDG_STATE_HOME": str(home / "state"), "TERM": "xterm"}
    yield Shell(home, more)
    with contextlib.closing(PrivateFolder.open(home / "kernelbot")) as folder:
        end_judges(folder)


def replace(file: Path, content: bytes) -> None:
    """As many editors save."""
    other = file.with_suffix(".new")
    other.write_bytes(content)
    other.rename(file)


def write_in_place(file: Path, text: str) -> None:
    """As others do, at once: the file is never empty in between."""
    with file.open("r+b") as opened:
        opened.write(text.ljust(file.stat().st_size, "\n").encode())


@pytest.fixture(scope="module")
def correct(shell: Shell) -> str:
    return (shell.home / "sums" / "submission.py").read_text()


@pytest.fixture(scope="module")
def saves(shell: Shell, correct: str) -> list[dict[str, Any]]:
    """What one session says of saves of every kind, each made once the one before was judged."""
    file = shell.home / "mine.py"
    file.write_text(correct)
    process = shell.start("dev", "--json", "sums", "mine.py")
    assert process.stdout is not None
    found = [json.loads(process.stdout.readline())]

    saving: list[Callable[[], None]] = [
        lambda: write_in_place(file, WRONG),
        lambda: replace(file, f"{correct}# again\n".encode()),
        file.unlink,
        lambda: os.mkfifo(file),
        lambda: replace(file, b"\xff\xfe\x00"),
        lambda: replace(file, b"#" * (2 << 20)),
        lambda: replace(file, b""),
    ]
    for save in saving:
        save()
        found.append(json.loads(process.stdout.readline()))
    replace(file, ENDLESS.encode())
    while not is_held(shell.home / "kernelbot" / "turn.lock"):  # it isn't judged yet
        time.sleep(0.01)
    replace(file, WRONG.encode())
    found += [json.loads(process.stdout.readline()) for _ in range(2)]
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=WAIT_S)
    assert (0, "") == (process.returncode, errors)
    return found


def test_each_save_is_judged_and_beside_those_before(saves: list[dict[str, Any]]) -> None:
    first, wrong, again = saves[:3]
    assert ["accepted", "wrong_answer", "accepted"] == [save["verdict"] for save in saves[:3]]
    assert (None, "wrong_answer", True) == (
        first["first_failing"],
        wrong["first_failing"]["verdict"],
        wrong["message"] != "",
    )
    assert {None} == {load["best"] for load in first["workloads"]}
    assert {"faster", "slower", "can't tell"} >= {
        load[beside]["answer"] for load in again["workloads"] for beside in ("best", "last")
    }


def test_each_error_has_its_file_line_and_column(saves: list[dict[str, Any]]) -> None:
    first, wrong = saves[:2]
    (diagnostic,) = wrong["diagnostics"]
    assert ([], "mine.py", 1, None, "error", True) == (
        first["diagnostics"],
        *(diagnostic[key] for key in ("file", "line", "column", "severity")),
        "The output is None" in diagnostic["message"],
    )
    assert [[]] * 4 == [save["diagnostics"] for save in saves[3:7]]
    assert ["author"] * 4 == [save["fault"] for save in saves[3:7]]


def test_what_is_no_source_is_told_and_the_session_goes_on(saves: list[dict[str, Any]]) -> None:
    expected = ["There is no file", "isn't a regular file", "isn't UTF-8", "larger than 1 MiB"]
    assert [True] * 4 == [
        text in save["trouble"] for text, save in zip(expected, saves[3:7], strict=True)
    ]
    assert "runtime_error" == saves[7]["verdict"]  # an empty file


def test_ctrl_c_while_one_file_is_judged_is_no_fault_of_ours(shell: Shell) -> None:
    (shell.home / "endless.py").write_text(ENDLESS)
    process = shell.start("dev", "--once", "--json", "sums", "endless.py")
    while not is_held(shell.home / "kernelbot" / "turn.lock"):  # it isn't judged yet
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=WAIT_S)
    assert (130, "", None) == (process.returncode, errors, json.loads(out)["fault"]), out


def test_saving_again_stops_what_is_being_judged(saves: list[dict[str, Any]]) -> None:
    endless, newest = saves[8:]
    assert (True, "wrong_answer") == ("saved again" in endless["trouble"], newest["verdict"])


def test_versions_are_listed_shown_compared_and_restored(
    shell: Shell, saves: list[dict[str, Any]], correct: str
) -> None:
    file = shell.home / "mine.py"
    file.write_text("mine, and not saved anywhere else\n")
    listed = shell("dev", "log", "mine.py", "--json").document["versions"]
    assert [save["version"] for save in saves if save["version"]] == [
        entry["version"] for entry in listed
    ]
    diff = shell("dev", "diff", "mine.py", "1", "3").out
    assert (correct, True) == (shell("dev", "show", "mine.py", "1").out, "+# again" in diff)
    restored = shell("dev", "restore", "mine.py", "1", "--json").document
    kept = shell("dev", "show", "mine.py", str(restored["kept"]["version"])).out
    assert (correct, "mine, and not saved anywhere else\n") == (file.read_text(), kept)
    missing = shell("dev", "show", "mine.py", "a'; echo x")
    assert (2, True) == (missing.code, "There is no version a'; echo x" in missing.err)


def test_on_a_terminal_the_last_save_is_shown_in_place(shell: Shell) -> None:
    file = shell.home / "shown.py"
    file.write_text(HOSTILE)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "dev", "sums", "shown.py"],
        cwd=shell.home,
        env=shell.environment,
        stdout=theirs,
        stderr=theirs,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    os.close(theirs)
    shown = read_until(ours, "Save 1 (version 1)")
    replace(file, WRONG.encode())
    shown += read_until(ours, "Save 2 (version 2)")
    process.send_signal(signal.SIGINT)
    shown += read_until(ours, None)
    os.close(ours)
    assert 0 == process.wait(WAIT_S)
    assert (False, True, True) == (
        "\x1b]0;owned" in shown,
        "\\x1b]0;owned\\x07" in shown,
        "wrong answer" in shown,
    )


def test_ctrl_c_while_it_is_judged_is_no_save(shell: Shell) -> None:
    file = shell.home / "ended.py"
    file.write_text(ENDLESS)
    process = shell.start("dev", "--json", "sums", "ended.py")
    while not is_held(shell.home / "kernelbot" / "turn.lock"):  # it isn't judged yet
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=WAIT_S)
    assert ["The session ended before it was judged to the end."] == [
        json.loads(line)["trouble"] for line in out.splitlines()
    ]
    assert (0, "") == (process.returncode, errors)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")
@pytest.mark.timeout(400)  # on a busy machine nvcc takes a minute, and it is called twice
def test_a_save_is_compiled_for_a_gpu_that_is_not_here(shell: Shell) -> None:
    """What a CPU can't time is tested there, and compiled."""
    shutil.copytree(CUDA, shell.home / "cuda")
    process = shell.start("dev", "--json", "--preflight", "h100", "cuda", "cuda/submission.cu")
    assert process.stdout is not None
    save = json.loads(process.stdout.readline())
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=WAIT_S)
    (found,) = save["preflights"]
    (kernel,) = found["report"]["kernels"]
    assert ("accepted", True, [], "compiled", True) == (
        save["verdict"],
        KERNELS_ON_CPU_NOTE in save["notes"],
        save["workloads"],
        found["report"]["outcome"],
        kernel["figures"]["registers"] > 0,
    )


def test_an_unknown_gpu_ends_the_session_before_it_begins(shell: Shell) -> None:
    said = shell("dev", "--preflight", "H10", "sums", "mine.py")
    assert (2, True) == (said.code, "Did you mean H100?" in said.err)
