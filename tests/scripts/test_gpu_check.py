"""Finding a GPU, and saying so where there is none."""

import subprocess
import sys
from pathlib import Path

import pytest
from scripts.gpu_check import NO_GPU, Gpu, find_gpu, parse_gpu

ROOT = Path(__file__).resolve().parents[2]


def test_the_first_gpu_counts() -> None:
    text = "NVIDIA H200, 9.0\nNVIDIA A100-SXM4-80GB, 8.0\n"
    assert Gpu("NVIDIA H200", "90") == parse_gpu(text)


@pytest.mark.parametrize("text", ["", "No devices were found\n", "NVIDIA, [N/A]\n", ",\n"])
def test_anything_else_is_no_gpu(text: str) -> None:
    assert parse_gpu(text) is None


@pytest.mark.skipif(find_gpu() is not None, reason="there is a GPU here")
def test_without_a_gpu_it_says_so() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scripts.gpu_check"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert (NO_GPU, "", "There is no NVIDIA GPU here: nothing was checked.\n") == (
        done.returncode,
        done.stdout,
        done.stderr,
    )
