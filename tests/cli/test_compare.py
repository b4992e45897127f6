"""`kernelbot compare`, through the real harness in a real sandbox."""

from pathlib import Path

import pytest

from kernelbot.catalog.skeleton import new_problem
from kernelbot.protocol import Lang
from tests.support.terminal import Shell

QUICK = "[sampling]\nwall_cap_s = 0.05\nmin_samples = 10\nmax_samples = 10\nwarmup_s = 0.0\n"
AWKWARD = "a'; echo x.py"
CUDA = Path(__file__).parents[2] / "examples" / "vectoradd_cu"
COMPILES = "# load_inline __global__\n"
NONE = "def custom_kernel(data):\n    return None\n"


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    """With two files beside the submission: one that is right, and one that isn't."""
    folder = tmp_path / "sums"
    new_problem(folder, "sums", Lang.PY)
    (folder / AWKWARD).write_text((folder / "submission.py").read_text())
    (folder / "none.py").write_text(NONE)
    (tmp_path / "kernelbot.toml").write_text(QUICK)
    return folder


# Each run has test_both_are_timed_on_each_workload_and_there_is_no_score (judge/test_duels.py)
@pytest.mark.exhaustive
def test_two_files_without_their_problem_s_folder(shell: Shell, problem: Path) -> None:
    (shell.home / "mine.py").write_text((problem / "submission.py").read_text())
    said = shell("compare", "mine.py", problem / AWKWARD, "--problem", problem, "--json")
    found = said.document
    assert (0, "", "mine.py", str(problem / AWKWARD), "accepted", None, None) == (
        said.code,
        said.err,
        found["first"],
        found["second"],
        found["verdict"],
        found["failed"],
        found["error"],
    )
    low, high = found["ratio_ci95"]
    assert low <= found["ratio"] <= high
    load = found["workloads"][-1]
    assert (10, 10, 10) == (load["pairs"], len(load["first_ns"]), len(load["second_ns"]))


@pytest.mark.exhaustive
def test_a_wrong_kernel_is_said_to_be_wrong(shell: Shell, problem: Path) -> None:
    said = shell("compare", problem / "none.py", problem / AWKWARD, "--json")
    found = said.document
    assert (1, "first", "wrong_answer", "author", None, []) == (
        said.code,
        found["failed"],
        found["verdict"],
        found["error"]["fault"],
        found["ratio"],
        found["workloads"],
    )


@pytest.mark.exhaustive
def test_so_is_one_that_is_wrong_only_when_it_is_timed(shell: Shell, problem: Path) -> None:
    """The problem is that of the folder that the files are in."""
    later = (problem / "submission.py").read_text() + (
        "\nright, calls = custom_kernel, []\n"
        "def custom_kernel(data):\n"
        "    calls.append(1)\n"
        "    return right(data) if len(calls) < 6 else None\n"
    )
    (problem / "later.py").write_text(later)
    said = shell("compare", problem / AWKWARD, problem / "later.py")
    assert (1, f"✗ wrong answer: {problem / 'later.py'}") == (said.code, said.out.splitlines()[-1])
    tested = f"{problem / 'later.py'}: test: accepted in"
    assert (True, True) == (tested in said.err, "duel: leaderboard (" in said.err)


def test_without_a_problem_it_says_how_to_name_one(shell: Shell) -> None:
    (shell.home / "a.py").write_text(NONE)
    said = shell("compare", "a.py", "a.py")
    assert (2, True) == (said.code, "--problem DIR names the problem's folder." in said.err)


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_a_file_that_can_not_be_judged(shell: Shell, problem: Path, content: bytes | None) -> None:
    if content is not None:
        (problem / "bad.py").write_bytes(content)
    said = shell("compare", problem / AWKWARD, problem / "bad.py", "--json")
    assert (2, "author") == (said.code, said.document["error"]["fault"])


def test_a_problem_that_has_no_duels(shell: Shell, problem: Path) -> None:
    """Before anything is judged, and with what can be done instead."""
    (problem / "eval.py").write_text("")
    task = problem / "task.yml"
    script = "harness: script\nconfig: {main: eval.py}\nfiles:\n"
    script += "  - {name: eval.py, source: eval.py}\n"
    task.write_text(task.read_text().replace("files:\n", script))
    said = shell("compare", problem / AWKWARD, problem / "submission.py")
    assert (2, True, True) == (
        said.code,
        "A duel needs a problem that is judged natively" in said.err,
        "`kernelbot run --mode leaderboard` gives each file its score" in said.err,
    ), said.err


def test_cuda_on_the_processor_is_not_compared(shell: Shell) -> None:
    said = shell("compare", CUDA / "submission.cu", CUDA / "submission.cu")
    assert (2, True) == (said.code, "only `--mode test` is for the device 'CPU'" in said.err)


def test_nor_is_a_second_file_that_compiles_its_kernels(shell: Shell, problem: Path) -> None:
    (problem / "compiles.py").write_text(COMPILES + (problem / "submission.py").read_text())
    said = shell("compare", problem / AWKWARD, problem / "compiles.py")
    assert (2, True) == (said.code, "only `--mode test` is for the device 'CPU'" in said.err)
