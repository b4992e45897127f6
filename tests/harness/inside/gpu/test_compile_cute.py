"""CuTe DSL and its compiler are real, and there is no GPU. `install` changes CuTe for good, so that
each test asks a process of its own."""

import ast
from pathlib import Path

import pytest

from tests.harness.inside.gpu.test_emulation import answers
from tests.support.cute_problems import CUTE, needs_cute
from tests.support.exhaustive import cases

pytestmark = [pytest.mark.torch, needs_cute]

INSTALL = """
import os
os.environ["HOME"] = "FOLDER"
import torch
from kernelbot.harness.inside.gpu import compile_cute, emulation, gpu_model
model = gpu_model.named_model("MODEL")
emulation.install(model)
compile_cute.install(model)
"""


def said(tmp_path: Path, code: str, model: str = "nvidia:90a") -> list[str]:
    install = INSTALL.replace("FOLDER", str(tmp_path)).replace("MODEL", model)
    return answers(tmp_path, CUTE + code, install=install)


@pytest.mark.parametrize(
    "model", cases(["nvidia:90a", "nvidia:100a", "nvidia:80", "nvidia:90"], ["nvidia:90a"])
)
def test_a_kernel_is_compiled_and_its_launch_does_nothing(tmp_path: Path, model: str) -> None:
    code = """
print(custom_kernel(torch.ones(2)).tolist() == [2.0, 2.0])
for path in sorted(__import__("pathlib").Path("FOLDER").glob(".cache/kernelbot/cute/*.launches")):
    print([line.split(", ")[1:] for line in path.read_text().splitlines()])
    print(b"ELF" in path.with_suffix(".fatbin").read_bytes())
"""
    found = said(tmp_path, code.replace("FOLDER", str(tmp_path)), model)
    launches = [["0", "0", '"double"]'], ["128", "512", '"double"]']]
    assert ["False", str(launches), "True"] == found


def test_tensors_lie_in_the_gpus_memory(tmp_path: Path) -> None:
    """A kernel that is compiled for any kind of memory is another one."""
    code = "print(from_dlpack(torch.ones(2)).memspace)\n"
    assert ["gmem"] == said(tmp_path, code)


def test_what_is_asked_of_the_hardware_is_known_of_the_model(tmp_path: Path) -> None:
    code = """
found = cutlass.utils.HardwareInfo()
print(found.get_max_active_clusters(2), found.get_device_multiprocessor_count())
"""
    assert ["66 132"] == said(tmp_path, code)


def test_a_stream_of_torch_can_be_given(tmp_path: Path) -> None:
    code = """
import cuda.bindings.driver as cuda
@cute.jit
def on_stream(x: cute.Tensor, stream: cuda.CUstream):
    double(x, x, 2).launch(grid=(1, 1, 1), block=(32, 1, 1), stream=stream)
stream = cuda.CUstream(torch.cuda.current_stream().cuda_stream)
on_stream(from_dlpack(torch.ones(2)), stream)
print("returned")
"""
    assert ["returned"] == said(tmp_path, code)


def test_a_model_that_cute_does_not_know_changes_nothing(tmp_path: Path) -> None:
    code = "print(from_dlpack(torch.ones(2)).memspace)\n"
    assert ["generic"] == said(tmp_path, code, "nvidia:75")


def test_in_a_cute_that_lacks_something_nothing_is_replaced(tmp_path: Path) -> None:
    code = """
import cutlass.cute.runtime as runtime
from cutlass.cutlass_dsl.cutlass import KernelLauncher
from kernelbot.harness.inside.gpu import compile_cute, gpu_model
before = runtime._Tensor.__init__
del KernelLauncher.launch
compile_cute.install(gpu_model.named_model("nvidia:90a"))
print(runtime._Tensor.__init__ is before)
"""
    assert ["True"] == answers(tmp_path, code, install="import torch\n")


@pytest.mark.parametrize(
    ("raised", "note"),
    [
        ("import missing", "CuTe DSL - ModuleNotFoundError - No module named 'missing'"),
        ("1 / 0", "script.py:LINE:5: error: ZeroDivisionError: division by zero"),
    ],
)
def test_only_what_the_author_wrote_is_their_error(tmp_path: Path, raised: str, note: str) -> None:
    code = f"""
@cute.jit
def wrong(x: cute.Tensor):
    {raised}
try:
    wrong(from_dlpack(torch.ones(2)))
except Exception as error:
    print(error.__notes__)
"""
    (found,) = said(tmp_path, code)
    script = (tmp_path / "script.py").read_text().splitlines()
    assert [note.replace("LINE", str(script.index(f"    {raised}") + 1))] == ast.literal_eval(found)
