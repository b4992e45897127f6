"""`kernelbot preflight`, with real compilers in a real sandbox and no GPU."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelbot.harness.host.warm.folder import PrivateFolder
from tests.support.hip import ADDED, HIP, needs_hip
from tests.support.terminal import Said, Shell
from tests.support.warm import end_judges

EXAMPLES = Path(__file__).parents[2] / "examples"
NVCC = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")
PATIENCE_S = 300.0
NEVER = "never compiled here"
SIMPLE = (EXAMPLES / "vectoradd_cu" / "submission.cu").read_text()
SPILLS = SIMPLE.replace("out[i] = a[i] + b[i];", "float x[64]; for (int j = 0; j < 64; j++)"
                        " x[j] = a[(i + j) % size]; out[i] = x[int(b[i]) & 63];")  # fmt: skip

EXTENSION = """
from pathlib import Path
from torch.utils.cpp_extension import load

Path("k.cu").write_text("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }\\n")
load("mine", [str(Path("k.cu").resolve())], is_python_module=False)

def custom_kernel(data):
    return data[2]
"""


INLINE = """
from torch.utils.cpp_extension import load_inline

SOURCE = r'''
#include <ATen/cuda/CUDAContext.h>
__global__ void twice(float* x) {
    int unused = 1;
    x[threadIdx.x] *= 2;
}
torch::Tensor run(torch::Tensor x) {
    auto out = torch::empty_like(x);
    twice<<<1, 64, 0, at::cuda::getCurrentCUDAStream()>>>(out.data_ptr<float>());
    return out;
}
'''
mine = load_inline("mine", "torch::Tensor run(torch::Tensor x);", SOURCE, functions=["run"])

def custom_kernel(data):
    return mine.run(data[0])
"""

BARE_INLINE = """
from torch.utils.cpp_extension import load_inline

SOURCE = r'''
#include <cuda_runtime.h>
__global__ void twice(float* x) {
    int unused = 1;
    x[threadIdx.x] *= 2;
}
void run(float* x) { twice<<<1, 64>>>(x); }
'''
mine = load_inline("mine", "", SOURCE, no_implicit_headers=True)

def custom_kernel(data):
    return mine.run(data[0])
"""


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    home = tmp_path_factory.mktemp("home")
    more = {"KERNELBOT_COLD": "", "XDG_RUNTIME_DIR": str(home), "XDG_CACHE_HOME": f"{home}/cache"}
    yield Shell(home, more)
    folder = home / "kernelbot"
    if folder.exists():
        with contextlib.closing(PrivateFolder.open(folder)) as judges:
            end_judges(judges)


@pytest.fixture(scope="module")
def problem(shell: Shell) -> Path:
    """An example with a compile limit that a busy machine keeps as well."""
    return Path(shutil.copytree(EXAMPLES / "vectoradd_cu", shell.home / "vectoradd_cu"))


def compiled(shell: Shell, problem: Path, text: str, *options: str, name: str = "mine.cu") -> Said:
    file = shell.home / name
    file.write_text(text)
    return shell("preflight", problem, file, *options, timeout_s=PATIENCE_S)


# Each run has test_a_gpu_that_is_never_compiled_for_leaves_the_others_their_exit_code
@pytest.mark.exhaustive
@NVCC
def test_versions_of_a_cuda_file(shell: Shell, problem: Path) -> None:
    """A kernel's figures; the same again without compiling; beside those of a version that needs a
    stack; and an error at its place."""
    first = compiled(shell, problem, SIMPLE, "--gpu", "h100", "--json").document["gpus"][0]
    again = compiled(shell, problem, SIMPLE, "--gpu", "H100", "--json").document["gpus"][0]
    (kernel,) = first["report"]["kernels"]
    assert ("compiled", 0, 0, 8, "threads") == (
        first["report"]["outcome"],
        kernel["figures"]["spill_bytes"],
        kernel["figures"]["stack_bytes"],
        kernel["occupancy"]["blocks"],
        kernel["occupancy"]["limited_by"],
    )
    assert (False, True, first["report"]) == (first["cached"], again["cached"], again["report"])

    worse = compiled(shell, problem, SPILLS, "--gpu", "H100")
    assert (0, True) == (worse.code, "256 (0)" in worse.out), worse.out

    broken = compiled(shell, problem, SIMPLE.replace("a[i] +", "aa[i] +"), "--gpu", "H100")
    place = "mine.cu:6:18: error: identifier"
    assert (1, True) == (broken.code, place in broken.out), broken.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--gpu", "H10"), "Did you mean H100?"),
        (("--gpu", "\x1b[31m"), "Known are: T4"),
        ((), "Use --gpu or --all."),
    ],
)
def test_a_gpu_that_is_unknown_is_bad_usage(
    shell: Shell, problem: Path, options: tuple[str, ...], words: str
) -> None:
    said = compiled(shell, problem, SIMPLE, *options)
    assert (2, True, False) == (said.code, words in said.err, "\x1b" in said.err), said.err


def test_what_is_never_compiled_here_is_said(shell: Shell, problem: Path) -> None:
    said = compiled(shell, problem, SIMPLE, "--gpu", "MI300X")
    assert (3, True) == (said.code, "CUDA C++ isn't compiled for AMD's GPUs" in said.out)


@NVCC
def test_a_gpu_that_is_never_compiled_for_leaves_the_others_their_exit_code(
    shell: Shell, problem: Path
) -> None:
    options = ("--gpu", "H100", "--gpu", "MI300X", "--json")
    good = compiled(shell, problem, SIMPLE, *options)
    bad = compiled(shell, problem, SIMPLE.replace("a[i] +", "aa[i] +"), *options)
    assert [(0, ["compiled", NEVER]), (1, ["does not compile", NEVER])] == [
        (said.code, [one["report"]["outcome"] for one in said.document["gpus"]])
        for said in (good, bad)
    ]


@pytest.mark.torch
@pytest.mark.exhaustive
@pytest.mark.timeout(PATIENCE_S)  # half a minute of a processor, which others may share
def test_triton_for_every_gpu(shell: Shell) -> None:
    """With the figures of a block of the size that Triton launches."""
    pytest.importorskip("triton", reason="triton isn't installed")
    problem = EXAMPLES / "vectoradd_triton"
    text = (problem / "submission.py").read_text()
    said = compiled(shell, problem, text, "--all", "--json", name="mine.py")
    reports = [one["report"] for one in said.document["gpus"]]
    assert ([("compiled", True, 0)] * 7, 0) == (
        [
            (
                report["outcome"],
                all(kernel["occupancy"]["blocks"] > 0 for kernel in report["kernels"]),
                report["kernels"][0]["figures"]["spill_bytes"],
            )
            for report in reports
        ],
        said.code,
    ), said.out


@NVCC
@pytest.mark.torch
@pytest.mark.exhaustive
def test_what_a_python_file_builds_at_import(shell: Shell) -> None:
    """Also by a torch without CUDA; an error in what it builds has its place there."""
    problem = EXAMPLES / "vectoradd_triton"
    good = compiled(shell, problem, EXTENSION, "--gpu", "H100", name="built.py")
    bad = EXTENSION.replace("*= 2", "*= two")
    broken = compiled(shell, problem, bad, "--gpu", "H100", name="built.py")
    assert (0, True) == (good.code, "twice(float*)" in good.out), good.out
    assert (1, True) == (broken.code, "k.cu:1: error: identifier" in broken.out), broken.out


@NVCC
@pytest.mark.torch
@pytest.mark.exhaustive
def test_load_inline(shell: Shell) -> None:
    """Without torch's headers. Lines are the file's."""
    text = BARE_INLINE
    assert_compiled(shell, text, text.replace("*= 2", "*= two"))


@NVCC
@pytest.mark.torch
@pytest.mark.long
@pytest.mark.timeout(4 * PATIENCE_S)  # a minute for a header that is compiled in advance, and more
def test_load_inline_with_torchs_headers(shell: Shell) -> None:
    """Also by a torch without CUDA, whose headers for streams lack some."""
    assert_compiled(shell, INLINE, INLINE.replace("*= 2", "*= two"))


def assert_compiled(shell: Shell, text: str, wrong: str) -> None:
    problem = EXAMPLES / "vectoradd_triton"
    good, broken = (
        compiled(shell, problem, one, "--gpu", "H100", name="inline.py") for one in (text, wrong)
    )
    assert [0, True, True] == [
        good.code,
        'inline.py:7:9: warning: variable "unused"' in good.out,
        "twice(float*)" in good.out,
    ], good.out
    assert [1, True] == [
        broken.code,
        'inline.py:8:23: error: identifier "two" is undefined' in broken.out,
    ], broken.out


@pytest.mark.exhaustive
@needs_hip
@pytest.mark.torch
def test_hip_of_load_inline(shell: Shell) -> None:
    """Whichever compiler of ROCm's it names for the host."""
    problem = EXAMPLES / "vectoradd_triton"
    text = f'import os\nos.environ["CXX"] = "/opt/rocm/bin/clang++"\n{HIP}'
    good = compiled(shell, problem, text, "--gpu", "MI300X", "--json", name="hip.py").document
    (kernel,) = good["gpus"][0]["report"]["kernels"]
    figures = kernel["figures"]
    assert ("raised(float*, int)", 128, 512, 0, True, "threads") == (
        figures["name"],
        figures["threads"],
        figures["shared_bytes"],
        figures["spill_bytes"],
        0 < figures["scalar_registers"] < figures["registers"] < 64,
        kernel["occupancy"]["limited_by"],
    )


@pytest.mark.exhaustive
@needs_hip
@pytest.mark.torch
def test_an_error_in_hip_has_its_place_in_the_file(shell: Shell) -> None:
    bad = HIP.replace(ADDED, "tile[threadIdx.x], two")
    problem = EXAMPLES / "vectoradd_triton"
    broken = compiled(shell, problem, bad, "--gpu", "MI300X", name="hip.py")
    assert (1, True) == (broken.code, "hip.py:11:50: error: use of un" in broken.out), broken.out


@needs_hip
@pytest.mark.torch
@pytest.mark.exhaustive
def test_a_gpu_that_this_clang_may_not_know(shell: Shell) -> None:
    """That is said, and nobody is blamed."""
    newer = compiled(shell, EXAMPLES / "vectoradd_triton", HIP, "--gpu", "MI355X", name="hip.py")
    expected = (0, "compiled") if newer.code == 0 else (3, "doesn't know gfx950: clang 20 or later")
    assert (expected[0], True) == (newer.code, expected[1] in newer.out), newer.out


_WARNINGS_HIP = """
#define A _Pragma("GCC warning \\"many\\"")
#define B A A A A A A A A A A
#define C B B B B B B B B B B
#define D C C C C C C C C C C
#define E D D D D D D D D D D
E E E E E E E E E E
"""
_ENDLESS_HIP = (
    "template<int N, unsigned M> struct T { "
    "static const unsigned v = T<N - 1, 2 * M>::v + T<N - 1, 2 * M + 1>::v; };\n"
    "template<unsigned M> struct T<0, M> { static const unsigned v = M; };\n"
    "static const unsigned endless = T<28, 0>::v;\n"
)


@needs_hip
@pytest.mark.torch
@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('#include "/etc/passwd"\n', "error"),
        ("template<int N> struct T { T<N + 1> t; }; T<0> endless;\n", "error"),
        (_ENDLESS_HIP, "longer than the compile limit"),
        ('#include "' + "x" * 5000 + '"\n', "error"),
        ("__device__ char big[1L << 62];\n", "error"),
        (_WARNINGS_HIP, "MI300X"),
    ],
)
def test_hostile_hip_is_refused(shell: Shell, text: str, words: str) -> None:
    """And nothing of this account is in what compilers say."""
    # What ends by itself has as long as a busy machine needs.
    limit_s = 12 if text is _ENDLESS_HIP else 40
    problem = shell.home / f"hurried_hip_{limit_s}"
    if not problem.exists():
        shutil.copytree(EXAMPLES / "vectoradd_triton", problem)
        task = problem / "task.yml"
        task.write_text(task.read_text() + f"\ncompile_timeout: {limit_s}\n")
    source = HIP.replace("__global__", text + "__global__")
    said = compiled(shell, problem, source, "--gpu", "MI300X", name="hostile.py")
    assert (True, True) == (said.code in (0, 1, 3), words in said.out), said.out[:2000]
    assert ("root:" in said.out, len(said.out) < 100_000) == (False, True)


@NVCC
@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('#include "/etc/passwd"\n', "error"),
        ("template<int N> struct T { T<N + 1> t; }; T<0> endless;\n", "error"),
        (("template<int N> struct F { static const long v = F<N-1>::v + F<N-2>::v + N; };\n"
         "constexpr long f(long n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n"
         "constexpr long endless = f(90);\n"), "error"),
        ("__device__ char big[1L << 40];\n", "error"),
        ('#include "' + "x" * 5000 + '"\n', "error"),
        ("\x00\x01", "error"),
    ],
)  # fmt: skip
def test_hostile_cuda_is_refused(shell: Shell, problem: Path, text: str, words: str) -> None:
    """And nothing of this account is in what compilers say."""
    said = compiled(shell, problem, text + SIMPLE, "--gpu", "H100")
    assert (1, True) == (said.code, words in said.out), said.out
    assert "root:" not in said.out


@NVCC
@pytest.mark.exhaustive
def test_a_file_that_compiles_for_minutes_ends_at_the_limit(shell: Shell) -> None:
    problem = Path(shutil.copytree(EXAMPLES / "vectoradd_cu", shell.home / "hurried"))
    task = problem / "task.yml"
    task.write_text(task.read_text() + "\ncompile_timeout: 3\n")
    endless = (
        "template<int N, int M> struct T { "
        "static const int v = T<N - 1, 2 * M>::v + T<N - 1, 2 * M + 1>::v; };\n"
        "template<int M> struct T<0, M> { static const int v = M; };\n"
        "static const int endless = T<28, 0>::v;\n"
    )
    said = compiled(shell, problem, endless + SIMPLE, "--gpu", "H100")
    assert (1, True) == (said.code, "not done after" in said.out), said.out


@NVCC
@pytest.mark.exhaustive
def test_warnings_without_end_are_cut(shell: Shell, problem: Path) -> None:
    """They have 2.4 MB, by a name that is written once and has a warning for each variable."""
    unused = "".join(f"P({n})\n" for n in range(3300))
    text = f"#define P(n) int {'unused_' * 100}##n;\nvoid f() {{\n{unused}}}\n"
    said = compiled(shell, problem, text + SIMPLE, "--gpu", "H100")
    assert "unused_unused_" in said.out
    assert len(said.out) < 100_000
    assert said.code in (0, 1), said.out
