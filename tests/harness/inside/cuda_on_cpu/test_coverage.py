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
        (
            "#include <hip/hip_runtime.h>",
            (
                "`#include <hip/hip_runtime.h>` (HIP, which runs here only if a Python file builds "
                "it by `load_inline`)"
            ),
        ),
        ("#include <hip/hip_ext.h>", "`#include <hip/hip_ext.h>` (HIP)"),
        ("#include <mma.h>", "`#include <mma.h>` (tensor cores (wmma))"),
        ("#include <cub/device/device_scan.cuh>", "`#include <cub/device/device_scan.cuh>` (CUB)"),
        ("cub::DeviceScan::ExclusiveSum(a, b);", "`cub::DeviceScan` (CUB)"),
        ("using Sort = cub::BlockMergeSort<int, 32, 4>;", "`cub::BlockMergeSort` (CUB)"),
        ("#include <cuda/barrier>", "`#include <cuda/barrier>` (libcu++)"),
        (
            "int x = __vadd4(a, b);",
            "`__vadd4` (arithmetic of the 8 or 16 bits within a word)",
        ),
        ("long long t = clock64();", "`clock64` (clocks of the GPU)"),
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
        "using Sort = cub::BlockRadixSort<int, 32, 4>;",
        "#include <cuda/std/functional>",
        "__volatile__ int v;",
        "namespace cub {}",
        "cub::",
        "int asm_ = 1;",
        "#include",
    ],
)
def test_all_else_is_left_to_the_compiler(written: str) -> None:
    refuse_uncovered("mine.cu", tokenize(written))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            "acc = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, acc, 0, 0, 0);",
            "`__builtin_amdgcn_mfma_f32_32x32x8f16` (AMD's matrix cores)",
        ),
        (
            "__builtin_amdgcn_global_load_lds(from, to, 4, 0, 0);",
            "`__builtin_amdgcn_global_load_lds` (AMD's instructions)",
        ),
        ('asm volatile("s_waitcnt vmcnt(0)");', "inline assembly (`asm`: `s_waitcnt`)"),
        (
            "__attribute__((address_space(3))) float *lds;",
            "`address_space` (AMD's address spaces)",
        ),
        (
            "typedef float four __attribute__((ext_vector_type(4)));",
            "`ext_vector_type` (clang's vectors)",
        ),
        ("__hip_atomic_fetch_add(a, 1, 0, 1);", "`__hip_atomic_fetch_add` (clang's atomics)"),
        ("#include <hipcub/hipcub.hpp>", "`#include <hipcub/hipcub.hpp>` (hipCUB)"),
        ("#include <hip/hip_ext.h>", "`#include <hip/hip_ext.h>` (HIP)"),
        ("#include <cub/cub.cuh>", "`#include <cub/cub.cuh>` (CUB)"),
        ("hipLaunchCooperativeKernel(k);", "`hipLaunchCooperativeKernel` (barriers of the whole"),
    ],
)
def test_what_needs_a_gpu_of_amds_is_named_with_its_line(written: str, said: str) -> None:
    with pytest.raises(NotCovered) as refused:
        refuse_uncovered("mine.py", tokenize(f"\n\n{written}\n"), hip=True)
    text = str(refused.value)
    assert text.startswith(f"mine.py:3: {said}")
    assert text.endswith(" can't run on the device CPU. Submit it to a device with a GPU.")


@pytest.mark.parametrize(
    "written",
    [
        "#include <hip/hip_runtime.h>",
        "#include <c10/hip/HIPStream.h>",
        "#include <hip/hip_fp8.h>",
        "__hip_fp8_e4m3_fnuz a; __hip_bfloat16 b;",
        "__hip_cvt_float_to_fp8(1.0f, __HIP_SATFINITE, __HIP_E4M3_FNUZ);",
    ],
)
def test_what_of_hip_runs_here_is_left_to_the_compiler(written: str) -> None:
    refuse_uncovered("mine.py", tokenize(written), hip=True)


def test_names_of_a_cuda_file_may_be_those_that_only_hips_compiler_reads() -> None:
    refuse_uncovered("mine.cu", tokenize("int address_space = 1;"))


def test_a_name_without_end_is_cut() -> None:
    with pytest.raises(NotCovered) as refused:
        refuse_uncovered("mine.cu", tokenize("tex1D" + "x" * 100_000))
    assert 300 > len(str(refused.value))
