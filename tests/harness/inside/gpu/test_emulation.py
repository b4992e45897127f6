"""`install` changes torch for good, so that each test asks a process of its own."""

import contextlib
import multiprocessing
import traceback
from pathlib import Path

import pytest

from tests.support.exhaustive import cases

pytest.importorskip("torch", reason="torch isn't installed")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.each_run(
        "test_factories_and_moves_end_on_the_cpu",
        "test_submissions_find_their_tensors_on_a_gpu_and_frameworks_where_they_are",
        "test_a_triton_kernel_runs_through_the_interpreter",
    ),
]

EAGER = 'backend="eager"'
INSTALL = "import torch\nfrom kernelbot.harness.inside.gpu import emulation\nemulation.install()\n"


def answers(
    tmp_path: Path, code: str, *, install: str = INSTALL, patience_s: float = 100
) -> list[str]:
    """What a process prints, line by line, that has loaded torch and done nothing with it."""
    script, said = tmp_path / "script.py", tmp_path / "said"
    script.write_text(install + code)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "torch.cuda.nvtx", __name__])
    process = context.Process(target=_run, args=(script, said))
    process.start()
    process.join(patience_s)
    assert 0 == process.exitcode, said.read_text()
    return said.read_text().splitlines()


def _run(script: Path, said: Path) -> None:
    """A file of its own: triton reads the source of its kernels."""
    with said.open("w") as file, contextlib.redirect_stdout(file):
        try:
            exec(compile(script.read_text(), script, "exec"), {"__name__": "__main__"})
        except BaseException:
            traceback.print_exc(file=file)
            raise


def test_factories_and_moves_end_on_the_cpu(tmp_path: Path) -> None:
    code = """
x = torch.zeros(2, device="cuda")
made = [
    torch.empty(2, device="cuda:3"), torch.ones(2, device=torch.device("cuda")),
    torch.rand(2, device=0), torch.full_like(x, 3.0, device="cuda"),
    torch.tensor([1], device="cuda"),
    x.new_empty(3, device="cuda"), x.to("cuda"), x.to(device="cuda", dtype=torch.int32),
    x.to(0), x.cuda(), x.cuda(1), x.pin_memory(), torch.empty(2, pin_memory=True),
    torch.nn.Linear(2, 2, device="cuda").to("cuda:0").cuda().weight,
]
print({str(value.device) for value in made})
print(x.to(torch.float64).dtype, x.to(made[0]).device, torch.empty(1, device="meta").device)
"""
    assert ["{'cpu'}", "torch.float64 cpu meta"] == answers(tmp_path, code)


def test_submissions_find_their_tensors_on_a_gpu_and_frameworks_where_they_are(
    tmp_path: Path,
) -> None:
    code = """
x = torch.ones(2, device="cuda")
frameworks = {"__name__": "torch.utils", "x": x}
print(x.is_cuda, torch.nn.Parameter(x).is_cuda, eval("x.is_cuda", frameworks))
try:
    x.is_cuda = False
except AttributeError as error:
    print("read only")
"""
    assert ["True True False", "read only"] == answers(tmp_path, code)


def test_generators_give_what_the_cpu_gives(tmp_path: Path) -> None:
    code = """
def generator(device):
    made = torch.Generator(device=device)
    made.manual_seed(7)
    return made

a = torch.randn(4, device="cuda", generator=generator("cuda"))
b = torch.randn(4, generator=generator("cpu"))
print(torch.equal(a, b), isinstance(torch.default_generator, torch.Generator))
torch.cuda.manual_seed_all(5)
a = torch.rand(3, device="cuda")
torch.manual_seed(5)
print(torch.equal(a, torch.rand(3)), isinstance(3, torch.Generator))
"""
    assert ["True True", "True False"] == answers(tmp_path, code)


def test_events_tell_the_time_that_passed(tmp_path: Path) -> None:
    code = """
import time
start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
start.record()
time.sleep(0.02)
end.record(torch.cuda.current_stream())
torch.cuda.synchronize()
print(20 <= start.elapsed_time(end) < 2000)
try:
    torch.cuda.Event().elapsed_time(end)
except RuntimeError as error:
    print(error)
"""
    refused = "Both events must be recorded before calculating elapsed time."
    assert ["True", refused] == answers(tmp_path, code)


def test_the_rest_of_the_table_does_nothing_harmful(tmp_path: Path) -> None:
    code = """
cuda = torch.cuda
cuda.empty_cache(); cuda.set_device(0); cuda.synchronize("cuda:0"); cuda.reset_peak_memory_stats()
stream = cuda.Stream()
with cuda.stream(stream), cuda.device(0), cuda.nvtx.range("custom_kernel"):
    cuda.nvtx.range_push("inner"); cuda.nvtx.range_pop()
    stream.wait_stream(cuda.default_stream()); stream.record_event().synchronize()
    torch.zeros(1).record_stream(stream)
with torch.autocast("cuda", dtype=torch.bfloat16):
    print((torch.ones(2, 2) @ torch.ones(2, 2)).dtype)
print(cuda.is_available(), cuda.device_count(), cuda.current_device(), cuda.memory_allocated())
print(cuda.get_device_name(0) == cuda.get_device_properties("cuda").name)
"""
    assert ["torch.bfloat16", "True 1 0 0", "True"] == answers(tmp_path, code)


def test_torch_itself_is_told_the_truth(tmp_path: Path) -> None:
    code = """
asked_by_torch = {"__name__": "torch.somewhere", "is_available": torch.cuda.is_available}
print(eval("is_available()", asked_by_torch))
"""
    truth = answers(tmp_path, "import torch; print(torch.cuda.is_available())", install="")
    assert truth == answers(tmp_path, code)


def test_installing_twice_changes_nothing_more(tmp_path: Path) -> None:
    code = "first = torch.empty\nemulation.install()\nprint(first is torch.empty)"
    assert ["True"] == answers(tmp_path, code)


def test_a_triton_kernel_runs_through_the_interpreter(tmp_path: Path) -> None:
    pytest.importorskip("triton", reason="triton isn't installed")
    code = """
import triton
import triton.language as tl

@triton.jit
def add(a, b, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    tl.store(out + at, tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)

a = torch.rand(1000, device="cuda")
out = torch.empty_like(a)
add[(triton.cdiv(1000, 256),)](a, a, out, 1000, BLOCK=256)
print(torch.equal(out, a + a))
"""
    assert ["True"] == answers(tmp_path, code)


@pytest.mark.parametrize(
    "options", cases([EAGER, f"{EAGER}, fullgraph=True"], always=[f"{EAGER}, fullgraph=True"])
)
def test_a_compiled_function_calls_kernels_of_the_interpreter(tmp_path: Path, options: str) -> None:
    """With the backend that compiles nothing: what is traced is the same, and no compiler runs."""
    pytest.importorskip("triton", reason="triton isn't installed")
    code = f"""
import triton
import triton.language as tl

@triton.jit
def total(x, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + at, mask=at < size, other=0.0), axis=0))

def plain(x):
    out = torch.zeros(1, device=x.device)
    total[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out[0] * 2

x = torch.ones(1000, device="cuda")
print(torch.compile(plain, {options})(x).item())
"""
    assert ["2000.0"] == answers(tmp_path, code)
