"""Triton and its compilers are real, and there is no GPU. `install` changes both for good, so that
each test asks a process of its own."""

import os
from pathlib import Path

import pytest

from tests.harness.inside.gpu.test_emulation import answers
from tests.support.exhaustive import few

pytest.importorskip("triton", reason="triton isn't installed")
pytestmark = pytest.mark.torch

CODE = """
import os
from pathlib import Path
cache = os.environ["TRITON_CACHE_DIR"] = "FOLDER"
import triton, triton.language as tl
from triton import knobs
from kernelbot.harness.inside.gpu import compile_only, emulation, gpu_model
model = gpu_model.named_model("MODEL")
emulation.install(model)
compile_only.install(model)
found = []
def listen(cache_hit, **_):
    found.append(cache_hit)
    if not cache_hit:
        with open("FOLDER.compiled", "a") as file:
            file.write(f"{os.getpid() != own}\\n")
own = os.getpid()
knobs.compilation.listener = listen

@triton.autotune(
    [triton.Config({"BLOCK": size}) for size in (32, 64)], key=["size"], cache_results=True
)
@triton.jit
def double(x, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, 2 * tl.load(x + at, mask=at < size), mask=at < size)

x = torch.ones(64, device="cuda")
out = torch.zeros_like(x)
double[lambda meta: (triton.cdiv(64, meta["BLOCK"]),)](x, out, 64)
files = [path.name for path in Path(cache).rglob("*") if path.is_file()]
print(found, out.sum().item())
print(sorted({name.rpartition(".")[2] for name in files if name.startswith("double.")}))
"""


@pytest.mark.exhaustive  # each run has test_what_kernels_are_made_for_is_asked_of_the_model
@pytest.mark.parametrize(
    ("model", "binary"),
    few([("nvidia:90a", "cubin"), ("amd:gfx942", "hsaco"), ("nvidia:100a", "cubin")], 1),
)
def test_all_configurations_are_compiled_and_none_is_run(
    tmp_path: Path, model: str, binary: str
) -> None:
    """Each by a process of its own, if there are processors for that. And another process finds
    them. Which one is best isn't kept."""
    code = CODE.replace("MODEL", model).replace("FOLDER", str(tmp_path / "cache"))
    first = answers(tmp_path, code, install="import torch\n")
    again = answers(tmp_path, code, install="import torch\n")
    several = len(os.sched_getaffinity(0)) > 1
    by_others = (tmp_path / "cache.compiled").read_text().split()
    assert [str(several)] * 2 == by_others
    assert (f"[{several}, {several}] 0.0", "[True, True] 0.0") == (first[0], again[0])
    assert binary in first[1]
    assert not list(tmp_path.rglob("*.autotune.json"))


def test_what_kernels_are_made_for_is_asked_of_the_model(tmp_path: Path) -> None:
    code = """
from kernelbot.harness.inside.gpu import compile_only, emulation, gpu_model
model = gpu_model.named_model("nvidia:90a")
emulation.install(model)
compile_only.install(model)
import triton
properties = torch.cuda.get_device_properties(0)
print(torch.cuda.get_device_capability(), properties.major, properties.multi_processor_count)
driver = triton.runtime.driver.active
print(driver.get_current_target(), driver.utils.get_device_properties(0)["multiprocessor_count"])
print(torch.zeros(2, device=driver.get_active_torch_device()).device)
"""
    assert [
        "(9, 0) 9 132",
        "GPUTarget(backend='cuda', arch=90, warp_size=32) 132",
        "cpu",
    ] == answers(tmp_path, code, install="import torch\n")


@pytest.mark.exhaustive  # each run has test_what_kernels_are_made_for_is_asked_of_the_model
def test_helion_has_triton_compile_where_it_is_looked_for(tmp_path: Path) -> None:
    """And tunes nothing."""
    code = (
        "import os\n"
        "from kernelbot.harness.inside.entry import name_folders\n"
        "from kernelbot.harness.inside.gpu import compile_only, gpu_model\n"
        "name_folders('/one')\n"
        "print(os.environ.get('TRITON_CACHE_DIR'))\n"
        "compile_only.install(gpu_model.named_model('nvidia:90a'))\n"
        "name_folders('/two')\n"
        "print(os.environ['TRITON_CACHE_DIR'], os.environ['HELION_AUTOTUNE_EFFORT'])\n"
    )
    found = answers(tmp_path, code, install="import torch\n")
    assert ["None", "/two/.triton/cache none"] == found
