"""Imported problems, judged by the real harness."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelbot.catalog.importing.folders import import_problems
from kernelbot.catalog.problem import load_problem
from kernelbot.harness.host.host import Host
from kernelbot.protocol import Mode, RunResult, Verdict
from tests.catalog.importing.suites import lay_flashinfer, lay_given, lay_kernelbench, lay_tensara
from tests.harness.jobs import a_job
from tests.support.exhaustive import cases

pytestmark = pytest.mark.torch
LAY: dict[str, Callable[[Path], Path]] = {
    "kernelbench": lay_kernelbench,
    "flashinfer-bench": lay_flashinfer,
    "tensara": lay_tensara,
}
MODEL = "import torch\nclass ModelNew(torch.nn.Module):\n    def __init__(self, width, factor):\n"
FORWARD = "    def forward(self, x):\n        "
LAYER = "        super().__init__()\n        self.layer = torch.nn.Linear(width, 3)\n"
BY_HAND = (
    f"{MODEL}{LAYER}        self.weight = (self.layer.weight * factor).T.contiguous()\n"
    "        self.bias = self.layer.bias * factor\n"
    f"{FORWARD}return x @ self.weight + self.bias\n"
)
OTHER_ORDER = (
    f"{MODEL}        super().__init__()\n        torch.rand(1)\n"
    "        self.layer, self.factor = torch.nn.Linear(width, 3), factor\n"
    f"{FORWARD}return self.layer(x) * self.factor\n"
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = {}
    for suite, lay in LAY.items():
        root = tmp_path_factory.mktemp(suite)
        made[suite] = import_problems(suite, lay(root / "in"), root / "out", largest=64).folders[0]
    return made


def judged(host: Host, folder: Path, source: str, mode: Mode = Mode.TEST) -> RunResult:
    problem = load_problem(folder).definition.spec
    return host.judge(a_job(source, mode=mode, problem=problem), lambda _event: None)


@pytest.mark.parametrize("suite", cases(LAY, always=["kernelbench"]))
def test_the_suite_s_own_solution_is_accepted_and_timed(
    host: Host, folders: dict[str, Path], suite: str
) -> None:
    source = next((folders[suite] / "solutions" / "correct").iterdir()).read_text()
    result = judged(host, folders[suite], source, Mode.BENCHMARK)
    assert Verdict.ACCEPTED == result.verdict, result
    assert all(workload.samples_ns for phase in result.phases for workload in phase.workloads)


@pytest.mark.parametrize(
    ("suite", "source"),
    [
        ("kernelbench", BY_HAND),
        ("flashinfer-bench", "def run(a, b, scale, sum):\n    sum[:] = (a + b) * scale\n"),
        ("flashinfer-bench", "def run(a, b, scale):\n    return {'sum': (a + b) * scale}\n"),
    ],
    ids=["built from the same weights", "into the outputs", "by name"],
)
@pytest.mark.exhaustive
def test_other_right_submissions_are_accepted(
    host: Host, folders: dict[str, Path], suite: str, source: str
) -> None:
    result = judged(host, folders[suite], source)
    assert Verdict.ACCEPTED == result.verdict, result


@pytest.mark.parametrize(
    ("suite", "source", "verdict", "told"),
    [
        ("kernelbench", OTHER_ORDER, Verdict.WRONG_ANSWER, "the output differs in"),
        ("kernelbench", "x = 1\n", Verdict.RUNTIME_ERROR, "defines no class ModelNew"),
        ("kernelbench", "import kernelbench_model\n", Verdict.RUNTIME_ERROR, "No module named"),
        (
            "flashinfer-bench",
            "def run(a, b, scale):\n    return (a + b) * scale + 0.02\n",
            Verdict.WRONG_ANSWER,
            "sum: ",
        ),
        ("flashinfer-bench", "x = 1\n", Verdict.RUNTIME_ERROR, "defines no function run"),
        (
            "tensara",
            "def solution(values, doubled, n):\n    doubled[:] = values\n",
            Verdict.WRONG_ANSWER,
            "verify_result refuses the output: not doubled",
        ),
    ],
)
def test_wrong_submissions_are_refused(
    host: Host,
    folders: dict[str, Path],
    suite: str,
    source: str,
    verdict: Verdict,
    told: str,
) -> None:
    result = judged(host, folders[suite], source)
    assert verdict == result.verdict, result
    assert result.failure is not None
    assert told in result.failure.message


@pytest.mark.skipif(
    importlib.util.find_spec("safetensors") is None, reason="suites are an extra: no safetensors"
)
def test_recorded_inputs_reach_the_kernel(host: Host, tmp_path: Path) -> None:
    suite = lay_given(tmp_path / "in")
    (folder,) = import_problems("flashinfer-bench", suite, tmp_path / "out").folders
    knows = "import torch\ndef run(values, ids, keep):\n    return values[[4, {}, 3]] * {}\n"
    right = judged(host, folder, knows.format(0, "torch.tensor([True, False, True])"))
    other = judged(host, folder, knows.format(0, "torch.tensor([True, True, True])"))
    assert (Verdict.ACCEPTED, Verdict.WRONG_ANSWER) == (right.verdict, other.verdict), right
