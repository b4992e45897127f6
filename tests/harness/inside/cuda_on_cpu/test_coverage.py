import pytest

from kernelbot.harness.inside.cuda_on_cpu.coverage import NotCovered, refuse_uncovered
from kernelbot.harness.inside.cuda_on_cpu.tokens import tokenize


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            'asm volatile("mma.sync.aligned.m16n8k16 {%0}, x;" ::);',
            "inline PTX (`asm`: `mma.sync.aligned.m16n8k16`)",
        ),
        ('asm("{\\n\\t.reg .pred p;\\n\\tsetp.ne p;}");', "inline PTX (`asm`: `setp.ne`)"),
        ("asm(CODE);", "inline PTX (`asm`)"),
        ("#include <hip/hip_runtime.h>", "`#include <hip/hip_runtime.h>` (HIP)"),
        ("#include <mma.h>", "`#include <mma.h>` (tensor cores (wmma))"),
        ("#include <cub/device/device_scan.cuh>", "`#include <cub/device/device_scan.cuh>` (CUB)"),
        ("cub::DeviceScan::ExclusiveSum(a, b);", "`cub::DeviceScan` (CUB)"),
        ("using Sort = cub::BlockRadixSort<int, 32, 4>;", "`cub::BlockRadixSort` (CUB)"),
        ("nvcuda::wmma::fragment<int> a;", "`nvcuda` (tensor cores (wmma))"),
        ("cudaLaunchKernelEx(&config, k, a);", "`cudaLaunchKernelEx` (clusters of blocks)"),
        ("__nv_fp8_e4m3 a;", "`__nv_fp8_e4m3` (8-bit floating point)"),
        ("auto grid = cg::this_grid();", "`this_grid` (barriers of the whole grid)"),
    ],
)
def test_what_needs_a_gpu_is_named_with_its_line(written: str, said: str) -> None:
    with pytest.raises(NotCovered) as refused:
        refuse_uncovered("mine.cu", tokenize(f"// asm in a comment\n\n{written}\n"))
    assert str(refused.value).startswith(f"mine.cu:3: {said} can't run on the device CPU. See")


@pytest.mark.parametrize(
    "written",
    [
        '"asm(mma)"',
        "// asm",
        "#include <cuda.h>",
        "#include <cuda_fp16.h>",
        "#include <cub/cub.cuh>",
        "#include <cub/block/block_reduce.cuh>",
        "using Reduce = cub::BlockReduce<float, 256, cub::BLOCK_REDUCE_RAKING>;",
        "namespace cub {}",
        "cub::",
        "int asm_ = 1;",
        "#include",
    ],
)
def test_all_else_is_left_to_the_compiler(written: str) -> None:
    refuse_uncovered("mine.cu", tokenize(written))


def test_a_name_without_end_is_cut() -> None:
    with pytest.raises(NotCovered) as refused:
        refuse_uncovered("mine.cu", tokenize("tex1D" + "x" * 100_000))
    assert 300 > len(str(refused.value))
