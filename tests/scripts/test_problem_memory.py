"""What problems' data needs, calculated on the examples, without a GPU."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from scripts.problem_memory.__main__ import main
from scripts.problem_memory.dry_run import DryRun
from scripts.problem_memory.judging import NATIVE, RANKS, SCRIPT, device_bytes, host_bytes

ROOT = Path(__file__).resolve().parents[2]
MIB = 1 << 20
RUN = DryRun("size: 1", 100 * MIB, 10 * MIB, 150 * MIB)


@pytest.mark.exhaustive
def test_a_problems_largest_workload_is_found(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch isn't installed")
    command = [sys.executable, "-m", "scripts.problem_memory", str(ROOT / "examples/conv2d_py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (0, "") == (done.returncode, done.stderr)
    cells = [cell.strip() for cell in done.stdout.splitlines()[-1].split("|")[1:-1]]
    assert ("native", "size: 32; kernelsize: 3; channels: 8; batch: 2") == tuple(cells[1:3])
    assert ["yes"] * 5 == cells[-5:]


LOOKS = """
import torch
def generate_input(size, seed):
    return torch.empty(size, dtype=torch.int64, device="cuda")
def ref_kernel(data):
    kinds = data.bincount().cpu().numpy().cumsum()
    return torch.cat([data[:end].double() for end in kinds])
def check_implementation(data, output):
    wrong = output < 0
    if bool(wrong.any().item()):
        return False, f"wrong at {torch.nonzero(wrong)[0].tolist()}"
    torch.empty(1 << 20, dtype=torch.uint8)
    return True, ""
"""
TASK = """
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: reference.py, source: reference.py}
lang: py
gpus: [CPU]
description: Looks at its data.
tests: [{size: 1000, seed: 1}]
benchmarks: [{size: 1000, seed: 1}]
"""


@pytest.mark.exhaustive
def test_steps_that_need_content_are_calculated_as_if_all_were_well(tmp_path: Path) -> None:
    """Bins are taken as if all fell into one, and nothing is looked for that is wrong."""
    pytest.importorskip("torch", reason="torch isn't installed")
    (tmp_path / "reference.py").write_text(LOOKS)
    (tmp_path / "task.yml").write_text(TASK)
    command = [sys.executable, "-m", "scripts.problem_memory.dry_run", str(tmp_path), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    found = DryRun(**json.loads(done.stdout))
    assert ("", 8000, 8000) == (found.unknown, found.data_bytes, found.output_bytes)
    assert found.problem_bytes is not None
    assert found.problem_bytes >= MIB


def test_a_folder_without_problems_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == main([str(tmp_path)])
    assert "There is no task.yml" in capsys.readouterr().err


def test_the_device_has_to_hold_all_copies_and_contexts() -> None:
    contexts, cage, judge, arenas, own = 2048, 250, 2 * 100 + 10 + 200, 2 * (100 + 10), 2 * 10
    assert (contexts + cage + judge + arenas + own) * MIB == device_bytes(NATIVE, RUN)


def test_a_ranks_process_of_the_problems_keeps_its_latest_data_alone() -> None:
    native, ranks = device_bytes(NATIVE, RUN), device_bytes(RANKS, RUN)
    assert native is not None
    assert native - 100 * MIB == ranks


def test_nothing_of_native_problems_passes_the_hosts_memory() -> None:
    assert (0, 0) == (host_bytes(NATIVE, RUN), host_bytes(RANKS, RUN))


def test_what_is_not_known_is_not_guessed() -> None:
    assert [None] * 3 == [
        device_bytes(SCRIPT, RUN),
        device_bytes(NATIVE, DryRun("", unknown="it ended")),
        host_bytes(SCRIPT, RUN),
    ]
