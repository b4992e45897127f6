"""`kernelbot run`, `problem` and `doctor`, through the real harness in a real sandbox."""

import contextlib
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelbot import __version__
from kernelbot.catalog.skeleton import new_problem
from kernelbot.harness.archive import sources_sha256
from kernelbot.harness.host.warm.folder import PrivateFolder
from kernelbot.protocol import Lang
from tests.catalog.importing.suites import lay_tensara
from tests.support.exhaustive import few
from tests.support.terminal import Shell
from tests.support.warm import end_judges

PROMISED = {
    *("verdict", "problem", "mode", "device", "harness", "score_s"),
    *("phases", "stdout", "stderr", "error", "system"),
}


CUDA = Path(__file__).parents[2] / "examples" / "vectoradd_cu"
SAMPLING = "[sampling]\nwall_cap_s = 0.3\npatience_s = 3\n"


@pytest.fixture(scope="module")
def runtime() -> Iterator[Path]:
    """The home of all tests here, whose judges stay warm from one to the next."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)
        with contextlib.closing(PrivateFolder.open(Path(folder, "kernelbot"))) as judges:
            end_judges(judges)


@pytest.fixture
def shell(tmp_path: Path, runtime: Path) -> Shell:
    (tmp_path / "kernelbot.toml").write_text(SAMPLING)
    more = {"KERNELBOT_COLD": "", "HOME": str(runtime), "XDG_RUNTIME_DIR": str(runtime)}
    return Shell(tmp_path, more)


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    new_problem(tmp_path / "sums", "sums", Lang.PY)
    return tmp_path / "sums"


@pytest.mark.exhaustive
def test_an_accepted_file(shell: Shell, problem: Path) -> None:
    said = shell("run", problem, problem / "submission.py")
    assert (0, "✓ accepted: sums, mode test, on CPU", True) == (
        said.code,
        said.out.splitlines()[-1],
        "test: accepted" in said.err,
    )


def test_an_accepted_file_as_json(shell: Shell, problem: Path) -> None:
    said = shell("run", problem, problem / "submission.py", "--json")
    document = said.document
    assert (0, "", "accepted", "native", "CPU", set()) == (
        said.code,
        said.err,
        document["verdict"],
        document["harness"],
        document["device"],
        PROMISED - set(document),
    )
    assert (__version__, sources_sha256()) == (
        document["harness_version"],
        document["harness_sha256"],
    )


# Each run has test_an_accepted_file_as_json, and that of library/test_judge.py on times
@pytest.mark.exhaustive
def test_a_benchmark_has_times(shell: Shell, problem: Path) -> None:
    said = shell("run", problem, problem / "submission.py", "--mode", "benchmark", "--json")
    workload = said.document["phases"]["benchmark"]["workloads"][0]
    low, high = workload["ci95_ns"]
    # What differs between processes may take an interval beyond the samples' own ends.
    assert (True, True, True, True) == (
        workload["samples"] >= 20 or workload["stopped_by"] == "wall_cap",
        workload["best_ns"] <= workload["median_ns"] <= workload["worst_ns"],
        0 <= low <= workload["median_ns"] <= high,
        said.document["score_s"] > 0,
    )


@pytest.mark.parametrize(
    ("name", "text", "verdict"),
    few(
        [
            ("none.py", "def custom_kernel(data):\n    return None\n", "wrong_answer"),
            ("broken.py", "def custom_kernel(\n", "compile_error"),
            ("a'; echo x.py", "raise ValueError('é')\n", "runtime_error"),
            ('quo"te\nline.py', "raise ValueError\n", "runtime_error"),
            ("empty.py", "", "runtime_error"),
            ("dies.py", "import os\nos._exit(0)\n", "runtime_error"),
        ],
        3,
    ),
)
def test_a_refused_file(
    shell: Shell, problem: Path, tmp_path: Path, name: str, text: str, verdict: str
) -> None:
    (tmp_path / name).write_text(text)
    said = shell("run", problem, tmp_path / name, "--json")
    assert (1, verdict, "author") == (
        said.code,
        said.document["verdict"],
        said.document["error"]["fault"],
    )


def test_what_the_author_prints_is_shown_without_its_control_characters(
    shell: Shell, problem: Path, tmp_path: Path
) -> None:
    (tmp_path / "noisy.py").write_text("print('\\x1b[2Jhello')\n")
    said = shell("run", problem, tmp_path / "noisy.py")
    assert (1, True, False) == (said.code, "\\x1b[2Jhello" in said.out, "\x1b" in said.out)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"\xff\xfe\x00", "invalid_submission"),
        (b"#" * (2 << 20), "submission_too_large"),
        (None, "invalid_submission"),
    ],
)
def test_a_file_that_can_not_be_judged(
    shell: Shell, problem: Path, tmp_path: Path, content: bytes | None, code: str
) -> None:
    file = tmp_path / "bad.py"
    if content is not None:
        file.write_bytes(content)
    said = shell("run", problem, file, "--json")
    assert (2, code) == (said.code, said.document["error"]["code"])


def test_a_folder_is_no_submission(shell: Shell, problem: Path) -> None:
    assert 2 == shell("run", problem, problem).code


def test_a_folder_for_its_files_that_can_not_be_made_is_told_before_it_is_judged(
    shell: Shell, problem: Path
) -> None:
    said = shell("run", "sums", "sums/submission.py", "--artifacts", "sums/task.yml")
    expected = "Error: sums/task.yml can't be made: File exists.\n"
    assert (2, "", expected) == (said.code, said.out, said.err)


def test_a_problem_that_is_none_lists_its_mistakes(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "task.yml").write_text("lang: klingon\ntests: 5\n")
    said = shell("run", tmp_path, tmp_path / "task.yml", "--json")
    error = said.document["error"]
    keys = {finding["key"] for finding in error["findings"]}
    assert (2, "invalid_problem", True) == (said.code, error["code"], {"lang", "tests"} <= keys)


@pytest.mark.parametrize(
    "arguments",
    [
        ("run",),
        ("run", "a"),
        ("run", "a", "b", "--mode", "fastest"),
        ("run", "a", "b", "--sandbox", "maybe"),
        ("fly",),
        ("submission", "show", "one"),
        ("submission", "show", "0"),
        ("--colour",),
    ],
)
def test_bad_usage(shell: Shell, arguments: tuple[str, ...]) -> None:
    for_people, for_programs = shell(*arguments), shell(*arguments, "--json")
    assert (2, "", 2, "bad_usage") == (
        for_people.code,
        for_people.out,
        for_programs.code,
        for_programs.document["error"]["code"],
    )


def test_only_cuda_on_the_processor_is_checked(shell: Shell, problem: Path) -> None:
    said = shell("run", problem, problem / "submission.py", "--check")
    assert (2, "") == (said.code, said.out)
    assert "--check looks at the memory of CUDA or HIP kernels that the processor runs." in said.err


def test_cuda_on_the_processor_is_not_timed(shell: Shell) -> None:
    said = shell("run", CUDA, CUDA / "submission.cu", "--mode", "benchmark", "--json")
    error = said.document["error"]
    assert (2, "bad_request", True) == (
        said.code,
        error["code"],
        "only `--mode test` is for the device 'CPU'" in error["detail"],
    )


@pytest.mark.exhaustive  # in each run builds that are kept nowhere are in test_cache.py
def test_a_home_that_keeps_nothing_is_enough(tmp_path: Path, problem: Path) -> None:
    """As a read-only one; root may write anywhere, so it is none at all."""
    (tmp_path / "none").touch()
    said = Shell(tmp_path, {"HOME": str(tmp_path / "none")})(
        "run", problem, problem / "submission.py"
    )
    assert (0, "✓ accepted: sums, mode test, on CPU") == (said.code, said.out.splitlines()[-1])


def test_a_device_that_is_not_there(shell: Shell, problem: Path) -> None:
    said = shell("run", problem, problem / "submission.py", "--device", "B200", "--json")
    assert (2, "bad_request") == (said.code, said.document["error"]["code"])


@pytest.mark.exhaustive  # each run has test_no_sandbox_is_our_fault
def test_without_a_sandbox_the_result_says_so(shell: Shell, problem: Path) -> None:
    said = shell("run", problem, problem / "submission.py", "--sandbox", "none")
    assert (0, True) == (said.code, "Judged without a sandbox" in said.out)


def test_no_sandbox_is_our_fault(tmp_path: Path, problem: Path) -> None:
    # As where an ordinary user may make no namespaces.
    (tmp_path / "bin").mkdir()
    refusing = tmp_path / "bin" / "bwrap"
    refusing.write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1"
    )
    refusing.chmod(0o755)
    shell = Shell(tmp_path, {"PATH": str(tmp_path / "bin")})
    said = shell("run", problem, problem / "submission.py", "--json")
    document = said.document
    assert (3, "internal_error", "platform") == (
        said.code,
        document["verdict"],
        document["error"]["fault"],
    )


@pytest.mark.exhaustive
def test_a_new_problem_is_sound(shell: Shell) -> None:
    made = shell("problem", "new", "mine")
    said = shell("problem", "check", "mine", "--json")
    solutions = said.document["solutions"]
    assert (0, 0, True, True) == (
        made.code,
        said.code,
        said.document["ok"],
        all(solution["behaved"] for solution in solutions) and len(solutions) > 1,
    )


@pytest.mark.exhaustive
def test_a_solution_that_misbehaves_is_named(shell: Shell, problem: Path) -> None:
    wrong = next((problem / "solutions" / "wrong").iterdir())
    wrong.rename(problem / "solutions" / "correct" / "not_really.py")
    said = shell("problem", "check", problem)
    assert (1, True) == (said.code, "✗ correct/not_really.py: wrong answer" in said.out)


def test_a_file_of_another_language_is_refused(shell: Shell, problem: Path, tmp_path: Path) -> None:
    (tmp_path / "fast.cpp").write_text("int x;\n")
    said = shell("run", problem, "fast.cpp")
    assert (2, True) == (said.code, "This problem is solved in Python" in said.err)


@pytest.mark.exhaustive
def test_times_of_correct_solutions_are_shown(shell: Shell, problem: Path) -> None:
    said = shell("problem", "check", problem, "--json")
    timed = {item["file"]: len(item["workloads"]) for item in said.document["solutions"]}
    assert {True: 2, False: 0} == {name.startswith("correct/"): n for name, n in timed.items()}


@pytest.mark.exhaustive  # each run has test_an_accepted_file_as_json
def test_a_reference_that_fails_is_its_author_s_fault(shell: Shell, problem: Path) -> None:
    reference = problem / "reference.py"
    reference.write_text(reference.read_text().replace("return array * np", "return arrays * np"))
    said = shell("problem", "check", problem)
    assert (1, True, True) == (
        said.code,
        "The problem's ref_kernel failed: NameError" in said.out,
        "reference.py, line 14, in ref_kernel" in said.out,
    )


@pytest.mark.exhaustive
def test_a_checker_that_fails_on_one_solution_is_its_author_s_fault(
    shell: Shell, problem: Path
) -> None:
    reference = problem / "reference.py"
    broken = reference.read_text().replace(
        "if wrong.size:", "if wrong.size:\n        wrong.nothing"
    )
    reference.write_text(broken)
    said = shell("problem", "check", problem)
    assert (1, True) == (said.code, "The problem's checker can't use this output" in said.out)


def test_a_folder_that_is_not_there(shell: Shell) -> None:
    said = shell("problem", "check", "nowhere")
    assert (2, True) == (said.code, said.err.startswith("Error: There is no folder nowhere."))


def test_a_check_may_only_read(shell: Shell, problem: Path) -> None:
    said = shell("problem", "check", problem, "--no-run", "--json")
    assert (0, []) == (said.code, said.document["solutions"])


# Each run has test_a_gpu_that_must_be_there_and_is_not_makes_the_node_unfit
# (vendor/test_check.py)
@pytest.mark.exhaustive
def test_the_doctor_judges_for_real(shell: Shell) -> None:
    said = shell("doctor", "--json")
    found = {part["name"]: part["found"] for part in said.document["parts"]}
    assert (0, True, True) == (said.code, found["judging"], found["bubblewrap"])


@pytest.mark.exhaustive  # each run has test_an_accepted_file_as_json
def test_ctrl_c_stops_all_of_it(tmp_path: Path, problem: Path) -> None:
    shell = Shell(tmp_path, {})
    (shell.home / "loop.py").write_text("while True:\n    pass\n")
    process = shell.start("run", problem, "loop.py")
    assert process.stderr is not None
    while "test (" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert (130, []) == (process.returncode, harnesses_in(shell.home))


def harnesses_in(folder: Path) -> list[str]:
    """The processes that work in a folder, as `kernelbot run` and its harness do. Of one that has
    ended, the system has no command line any more, but for a moment still the folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended while we looked
            if (process / "cwd").readlink() == folder:
                found.append((process / "cmdline").read_text())
    return [command for command in found if command]


def test_help_teaches(shell: Shell) -> None:
    said = shell("submit", "--help")
    assert (0, True) == (said.code, "kernelbot submit mine.py --board sort_np" in said.out)


def test_the_version(shell: Shell) -> None:
    assert (0, True) == (shell("--version").code, shell("--version").out.startswith("kernelbot 0."))


@pytest.mark.exhaustive
def test_a_node_is_examined_and_the_report_is_there_to_be_sent(
    shell: Shell, tmp_path: Path
) -> None:
    said = shell("vendor", "check", "--gpu", "cpu", "--report", tmp_path / "node7")
    assert (0, "Jobs can be judged on this node.") == (said.code, said.out.splitlines()[-3])
    assert {"node7.json", "node7.txt"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.exhaustive  # each run has test_an_accepted_file_as_json
@pytest.mark.skipif(Path("/dev/kfd").exists(), reason="there is a GPU here")
def test_a_node_that_lacks_what_is_needed_is_not_fit(shell: Shell) -> None:
    said = shell("vendor", "check", "--gpu", "amd", "--json")
    assert (1, "", False) == (said.code, said.err, said.document["ok"])


def test_problems_of_another_suite_are_imported(shell: Shell, tmp_path: Path) -> None:
    lay_tensara(tmp_path / "suite")
    lay_tensara(tmp_path / "suite", "class Half(Problem): ...\n", "half")
    said = shell("problem", "import", "tensara", "suite", "--into", "out", "--json")
    assert (1, ["out/twice"], ["half/def.py"] * 3) == (
        said.code,
        said.document["folders"],
        [refused["file"] for refused in said.document["refused"]],
    )
    told = shell("problem", "import", "tensara", "suite", "--into", "again").out
    assert "\n1 problem imported, 1 file not.\n" in told
    nothing = shell("problem", "import", "tensara", "out")
    assert (2, "Error: out holds no problem of tensara.\n") == (nothing.code, nothing.err)
