import contextlib
import sys
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.harness.inside.cuda_on_cpu.coverage import NotCovered
from kernelbot.harness.inside.cuda_on_cpu.rewriting import rewrite

_KERNEL = "__global__ void k(int *a) {}\n"
_TEXTS = st.sampled_from(
    ['"k<<<1, 2>>>(a)"', 'R"(k<<<1, 2>>>(a))"', "/* k<<<1, 2>>>(a) */", "// k<<<1>>>(a)\n", "'<'"]
)
_BITS = st.sampled_from(
    [
        "k",
        "<<<",
        ">>>",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "<",
        ">",
        ",",
        ";",
        "::",
        "__shared__ ",
        "extern ",
        "int ",
    ]
)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("k<<<1, 2>>>(a);", "::cuda_on_cpu::launch(k, 1, 2)(a);"),
        ("k <<< g(1, 2), b >>> (a);", "::cuda_on_cpu::launch(k ,  g(1, 2), b ) (a);"),
        (
            "t<4, f<2>><<<dim3(1), 2>>>(a);",
            (
                "::cuda_on_cpu::launch_any([=](auto... cuda_on_cpu_given) { t<4, f<2>>"
                "(cuda_on_cpu_given...); }, dim3(1), 2)(a);"
            ),
        ),
        (
            "t<(1 > 0)><<<1, 2>>>(a);",
            (
                "::cuda_on_cpu::launch_any([=](auto... cuda_on_cpu_given) { t<(1 > 0)>"
                "(cuda_on_cpu_given...); }, 1, 2)(a);"
            ),
        ),
        (
            "n::s<int>::t<<<1, 2>>>(a);",
            (
                "::cuda_on_cpu::launch_any([=](auto... cuda_on_cpu_given) { n::s<int>::t"
                "(cuda_on_cpu_given...); }, 1, 2)(a);"
            ),
        ),
        (
            "if (a) k<<<1, 2>>>(a); else ::n::k<<<1, f<A<B<C>>>(2)>>>(a);",
            (
                "if (a) ::cuda_on_cpu::launch(k, 1, 2)(a); else "
                "::cuda_on_cpu::launch_any([=](auto... cuda_on_cpu_given) { ::n::k"
                "(cuda_on_cpu_given...); }, 1, f<A<B<C>>>(2))(a);"
            ),
        ),
        (
            "k<<<a < 3, 2>>>(a), k<<<1, 2>>>(a), f<A<B<C>>>(2);",
            (
                "::cuda_on_cpu::launch(k, a < 3, 2)(a), ::cuda_on_cpu::launch(k, 1, 2)(a), "
                "f<A<B<C>>>(2);"
            ),
        ),
        (
            "K(4)<<<1, 2>>>(a);",
            (
                "::cuda_on_cpu::launch_any([=](auto... cuda_on_cpu_given) { K(4)"
                "(cuda_on_cpu_given...); }, 1, 2)(a);"
            ),
        ),
    ],
)
def test_a_launch_is_a_call(written: str, expected: str) -> None:
    assert _KERNEL + expected == rewrite("k.cu", _KERNEL + written)


def test_a_kernel_that_is_a_template_is_launched_with_the_arguments_types() -> None:
    source = "template <class T> __global__ void t(T a) {}\nvoid f() { t<<<1, 1>>>(2); }"
    assert "launch_any([=](auto... cuda_on_cpu_given) { t(cuda" in rewrite("k.cu", source)


def test_a_kernel_that_is_declared_first_is_one_kernel() -> None:
    source = "__global__ void k(int *);\n" + _KERNEL + "void f() { k<<<1, 1>>>(0); }"
    assert "::cuda_on_cpu::launch(k, 1, 1)(0)" in rewrite("k.cu", source)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (
            "__shared__ float s[N][2];",
            (
                'static ::cuda_on_cpu::Shared<float[(N)][(2)]> s_shared{"s"}; '
                "auto &s = s_shared.entered().value;"
            ),
        ),
        (
            "static __shared__ unsigned int s;",
            (
                'static ::cuda_on_cpu::Shared<unsigned int> s_shared{"s"}; '
                "auto &s = s_shared.entered().value;"
            ),
        ),
        (
            "__shared__ alignas(16) std::pair<int, int> s[2];",
            (
                "alignas(16) static ::cuda_on_cpu::Shared<std::pair<int, int>[(2)]> "
                's_shared{"s"}; '
                "auto &s = s_shared.entered().value;"
            ),
        ),
        (
            "extern __shared__ T s[];",
            "T *const s = reinterpret_cast<T *>(::cuda_on_cpu::dynamic_shared);",
        ),
        (
            "extern __shared__ float s[][33];",
            (
                "float (*const s)[(33)] = "
                "reinterpret_cast<float (*)[(33)]>(::cuda_on_cpu::dynamic_shared);"
            ),
        ),
        (
            "__shared__ float a[N >> 5], b[1 << 8];",
            (
                'static ::cuda_on_cpu::Shared<float[(N >> 5)]> a_shared{"a"}; '
                "auto &a = a_shared.entered().value; "
                'static ::cuda_on_cpu::Shared<float[(1 << 8)]> b_shared{"b"}; '
                "auto &b = b_shared.entered().value;"
            ),
        ),
        (
            "__shared__ std::array<float, (N>>1)> s;",
            (
                'static ::cuda_on_cpu::Shared<std::array<float, (N>>1)>> s_shared{"s"}; '
                "auto &s = s_shared.entered().value;"
            ),
        ),
        (
            "extern alignas(sizeof(T)) __shared__ T s[];",
            "T *const s = reinterpret_cast<T *>(::cuda_on_cpu::dynamic_shared);",
        ),
        (
            "#define DYNAMIC(T, s) extern __shared__ T s[]\n",
            (
                "#define DYNAMIC(T, s) T *const s = "
                "reinterpret_cast<T *>(::cuda_on_cpu::dynamic_shared)"
            ),
        ),
        (
            "extern __shared__ __align__(16) char s[];",
            "char *const s = reinterpret_cast<char *>(::cuda_on_cpu::dynamic_shared);",
        ),
    ],
)
def test_shared_memory_is_declared_once_for_all_threads(written: str, expected: str) -> None:
    rewritten = rewrite("k.cu", written)
    assert "".join(expected.split()) == "".join(rewritten.split())


@pytest.mark.parametrize(
    "written",
    [
        "__shared__ struct { int a; } s;",
        "__shared__ int s = 1;",
        "#define SMEM __shared__\nusing namespace std;",
        "#define TILE(name) \\\n __shared__ int name[2];\nvoid f(int *a);",
    ],
)
def test_an_unusual_declaration_or_one_of_a_macro_stays(written: str) -> None:
    assert written == rewrite("k.cu", written)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("__device__ __forceinline__ int f();", "__device__ inline int f();"),
        ("inline __device__ __forceinline__ int f();", "inline __device__  int f();"),
        ("__noinline__ int f();", "__attribute__((noinline)) int f();"),
        ("__attribute__((__noinline__)) int f();", "__attribute__((__noinline__)) int f();"),
    ],
)
def test_specifiers_are_those_of_the_compiler(written: str, expected: str) -> None:
    assert expected == rewrite("k.cu", written)


@given(st.lists(_TEXTS).map(" ".join))
def test_comments_and_strings_stay(text: str) -> None:
    assert text == rewrite("k.cu", text)


@given(st.lists(_BITS).map("".join))
def test_any_text_keeps_its_lines_or_is_refused(text: str) -> None:
    text = text.replace(";", ";\n")
    with contextlib.suppress(NotCovered):
        assert text.count("\n") == rewrite("k.cu", text).count("\n")


@pytest.mark.parametrize(
    "launch",
    [
        "k<<<1, 2(a);",
        "o.k<<<1, 2>>>(a);",
        "o->k<<<1, 2>>>(a);",
        "o.get(1)<<<1, 2>>>(a);",
        "k<<<1, (2>>>(a);",
    ],
)
def test_a_launch_that_cannot_be_read_is_refused_by_its_line(launch: str) -> None:
    with pytest.raises(NotCovered, match=r"^k\.cu:2: this launch can't be read\. Write it as"):
        rewrite("k.cu", "\n" + launch)


@pytest.mark.parametrize(
    "kernel",
    [
        "__global__ void __launch_bounds__(T<A, 2>::N >> 1) k(int a) {",
        "__global__ __launch_bounds__(T<A, 2>::N >> 1) void k(int (*a)(int) = {}) {",
        "#define K __global__ void __launch_bounds__(T<A, 2>::N >> 1) k(int a) {",
    ],
)
def test_a_kernel_with_bounds_expects_them(kernel: str) -> None:
    assert kernel + " ::cuda_on_cpu::bounded(T<A, 2>::N >> 1);" == rewrite("k.cu", kernel)


@pytest.mark.parametrize(
    "written",
    [
        "__global__ void __launch_bounds__(n) k(int n) {}",
        "__global__ void __launch_bounds__(2) k(int n); void f() {}",
        "#define BOUNDS __launch_bounds__(2)\nvoid f() {}",
        f"__global__ void __launch_bounds__({'1 + ' * 40}1) k() {{}}",
    ],
)
def test_bounds_that_no_body_is_known_to_have_stay(written: str) -> None:
    assert written == rewrite("k.cu", written)


_MIB = 1 << 20
_HOSTILE = [
    "k<<<1>>>(",
    "k<<<(",
    "a>",
    "<",
    "(",
    "# ",
    "::a",
    "a<b><<<1>>>(x) ",
    "k<<<f<A<B<C>>>(2)>>>(p)",
    "template ",
    "static ",
    "__global__ ",
    "__global__ k(",
    "__launch_bounds__ ",
    "__launch_bounds__(1) ",
    "__launch_bounds__(a) k(a) ",
    "__launch_bounds__(",
    "__forceinline__ ",
    "__noinline__ ",
    "__shared__ ",
    "; ) __shared__ x ",
    "alignas( __shared__ ",
    "alignas(1) __shared__ ",
    "alignas(",
    "extern ",
    "volatile ",
    "extern __shared__ int a[];",
    "#define __shared__ ",
    "#include <a> ",
    "inline ",
    "else ::",
    "__shared__ int a,b,c,d,e,f,g;",
    "\\'",
    '\\"',
]


def _cost(text: str) -> int:
    """Lines of our own code that are run."""
    lines = 0

    def count(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        with contextlib.suppress(NotCovered):
            rewrite("k.cu", text)
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize("piece", _HOSTILE)
def test_a_repeated_text_takes_linear_time(piece: str) -> None:
    assert _cost(piece * 320) < 2.5 * _cost(piece * 160) + 1000


def test_launches_behind_many_open_angles_take_linear_time() -> None:
    costs = [_cost("a<" * 8 * n + "b><<<1>>>(x)" * n) for n in (40, 80)]
    assert costs[1] < 2.5 * costs[0]


# That all take linear time, each run counts in `test_a_repeated_text_takes_linear_time`.
@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "piece", [*_HOSTILE[:4], *(pytest.param(one, marks=pytest.mark.long) for one in _HOSTILE[4:])]
)
def test_a_hostile_file_is_rewritten_before_the_test_ends(piece: str) -> None:
    with contextlib.suppress(NotCovered):
        assert len(rewrite("k.cu", piece * (_MIB // len(piece)))) < 32 * _MIB
