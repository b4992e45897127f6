"""The words are those of real compilers: nvcc 13.0, g++ 12, ptxas, Triton 3.7, Python 3.11."""

import time

import pytest

from kernelbot.preflight.diagnostics import read_diagnostics
from kernelbot.preflight.model import Diagnostic, Severity

CUDA = """#include <cuda_runtime.h>
__global__ void k(float* a) { int unused = 3;
    a[0] = a[1] + foo; }
"""
TRITON = """import triton
@triton.jit
def k(a, n):
    i = tl.arange(0, 16)
    x = foo(i)
"""
ERROR, WARNING = Severity.ERROR, Severity.WARNING


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (
            (
                './mine.cu(3): error: identifier "foo" is undefined\n'
                "      a[0] = a[1] + foo; }\n"
                "                    ^\n"
            ),
            Diagnostic(ERROR, 'identifier "foo" is undefined', "./mine.cu", 3, 19),
        ),
        (
            (
                'mine.cu(2): warning #177-D: variable "unused" was declared but never referenced\n'
                "  __attribute__((global)) void k(float* a) { int unused = 3;\n"
                "                                                 ^\n"
            ),
            Diagnostic(
                WARNING, 'variable "unused" was declared but never referenced', "mine.cu", 2, 35
            ),
        ),
        (
            'other.cuh(7): catastrophic error: cannot open source file "x.h"\n',
            Diagnostic(ERROR, 'cannot open source file "x.h"', "other.cuh", 7),
        ),
        (
            "main.cpp:12:5: error: 'y' was not declared in this scope\n",
            Diagnostic(ERROR, "'y' was not declared in this scope", "main.cpp", 12, 5),
        ),
        (
            "main.cpp:1:10: fatal error: no.h: No such file or directory\n",
            Diagnostic(ERROR, "no.h: No such file or directory", "main.cpp", 1, 10),
        ),
        (
            "ptxas /tmp/k.ptx, line 19; error   : Unknown symbol 'x'\n",
            Diagnostic(ERROR, "Unknown symbol 'x'", "/tmp/k.ptx", 19),
        ),
        (
            "ptxas warning : Registers are spilled to local memory in function 'k'\n",
            Diagnostic(WARNING, "Registers are spilled to local memory in function 'k'"),
        ),
        (
            "/usr/bin/ld: k.o: undefined reference to `f()'\n",
            Diagnostic(ERROR, "undefined reference to `f()'"),
        ),
        (
            (
                'Traceback:\n  File "mine.cu", line 1\n    #include <cuda_runtime.h>\n    ^\n'
                "SyntaxError: invalid syntax\n"
            ),
            Diagnostic(ERROR, "SyntaxError: invalid syntax", "mine.cu", 1, 1),
        ),
    ],
)
def test_what_a_compiler_says_has_its_place(said: str, found: Diagnostic) -> None:
    assert (found,) == read_diagnostics(said, CUDA, "mine.cu")


@pytest.mark.parametrize("mark", ["", "\x0c", "# \u2028", "# \x85"])
def test_a_line_of_a_triton_kernel_is_one_of_the_file(mark: str) -> None:
    """Counted as Python counts lines: a form feed, which editors show as a new page, ends none."""
    said = (
        "triton.compiler.errors.CompilationError: at 3:8:\ndef k(a, n):\n"
        "    i = tl.arange(0, 16)\n    x = foo(i)\n        ^\nNameError('foo is not defined')\n"
    )
    found = Diagnostic(ERROR, "NameError('foo is not defined')", "mine.py", 6, 9)
    assert (found,) == read_diagnostics(said, f"{mark}\n{TRITON}", "mine.py")


def test_a_line_that_the_file_has_twice_has_no_place() -> None:
    said = "CompilationError: at 3:8:\n    x = foo(i)\n        ^\nNameError('foo')\n"
    found = Diagnostic(ERROR, "NameError('foo')")
    assert (found,) == read_diagnostics(said, TRITON + TRITON, "mine.py")


AT_LINE_3 = "triton.compiler.errors.CompilationError: at 3:8:\n"
NOT_SAID = "The kernel can't be compiled."


@pytest.mark.parametrize(
    ("shown", "message"),
    [
        ("def k(a, n):\n\nValueError('n')\n", "ValueError('n')"),
        ("def k(a, n):\nValueError('n')\nmore\n", "ValueError('n')"),
        ("def k(a, n):\n", NOT_SAID),
        ("", NOT_SAID),
    ],
)
def test_without_a_caret_it_has_no_place(shown: str, message: str) -> None:
    found = read_diagnostics("before\nit\n" + AT_LINE_3 + shown, TRITON, "mine.py")
    assert (Diagnostic(ERROR, message),) == found


@pytest.mark.parametrize(("lines", "found"), [(998, True), (999, False)])
def test_of_a_kernel_a_thousand_lines_are_looked_through(lines: int, found: bool) -> None:
    said = AT_LINE_3 + "#\n" * lines + "    x = foo(i)\n        ^\nNameError('foo')\n"
    expected = Diagnostic(ERROR, NOT_SAID, "mine.py", 5, 9) if found else Diagnostic(ERROR, "#")
    assert (expected,) == read_diagnostics(said, TRITON, "mine.py")


SHOWN = "    a[0] = a[1] + foo; }\n"


@pytest.mark.parametrize(
    ("said", "column"),
    [
        ("mine.cu(3): error: e\nnote\n" + SHOWN + "                    ^\n", 21),
        ("mine.cu(3): error: e\nnote\nnote\n" + SHOWN + "    ^\n", None),
        ("mine.cu(1): error: e\n#include <cuda_runtime.h>\n^\n", 1),
        ("mine.cu(3): error: e\n" + SHOWN + "no^\n", None),
        ("mine.cu(3): error: e\n" + SHOWN + "\n", None),
        ("mine.cu(0): error: e\n" + SHOWN + "    ^\n", None),
        ("mine.cu(4): error: e\n" + SHOWN + "    ^\n", None),
        ("mine.cu:3: error: e\n" + SHOWN + "    ^\n", 5),
        ("mine.cu:3:7: error: e\n" + SHOWN + "    ^\n", 7),
        ("other.cu(3): error: e\n" + SHOWN + "    ^\n", None),
        (SHOWN + "    ^\nSyntaxError: invalid syntax\n", None),
        ('  File "mine.cu", line 3\nSyntaxError: invalid syntax\n', None),
    ],
)
def test_a_caret_below_a_line_of_the_file_is_a_column(said: str, column: int | None) -> None:
    assert [column] == [one.column for one in read_diagnostics(said, CUDA, "mine.cu")]


def test_errors_come_first_and_each_once() -> None:
    said = "a.cu(1): warning #1: w\na.cu(2): error: e\na.cu(1): warning #1: w\n"
    found = read_diagnostics(said, "", "mine.cu")
    assert [(ERROR, 2), (WARNING, 1)] == [(one.severity, one.line) for one in found]


def test_a_caret_in_text_that_is_not_the_files_is_no_column() -> None:
    said = "mine.cu(3): error: e\n    something else;\n    ^\n"
    assert [None] == [one.column for one in read_diagnostics(said, CUDA, "mine.cu")]


@pytest.mark.parametrize(
    "said",
    [
        "(" * 100_000,
        "a(" * 50_000 + "1): error: x",
        "a:" * 50_000,
        "mine.cu(99999999999): error: x\n",
        "mine.cu(0): error: x\n   ^\n^\n",
        "\x00\x1b[31m\n" * 1000,
        "CompilationError: at 1:1:\n" * 1000,
        'File "' + "x" * 100_000,
    ],
)
def test_hostile_words_are_read_to_their_end(said: str) -> None:
    found = read_diagnostics(said, CUDA, "mine.cu")
    assert all(len(one.message) <= 500 for one in found)


@pytest.mark.exhaustive  # each run has test_hostile_output_takes_little_time_to_read
def test_a_hundred_thousand_warnings_are_cut() -> None:
    said = "".join(f"a.cu({line}): warning #1: w\n" for line in range(100_000))
    assert 200 == len(read_diagnostics(said, "", "a.cu"))


@pytest.mark.parametrize(
    "said", ["mine.cu(1): error: {}", "mine.cu:1:2: error: {}", "ptxas error   : {}"]
)
def test_a_long_message_is_cut(said: str) -> None:
    (found,) = read_diagnostics(said.format("x" * 600), CUDA, "mine.cu")
    assert 500 == len(found.message)


@pytest.mark.parametrize(
    "said",
    ["\n" * 100_000 + "x", " \n" * 50_000 + "x", "CompilationError: at 1:1:\n" * 8000],
    ids=["empty lines", "spaces", "errors of Triton"],
)
def test_hostile_output_takes_little_time_to_read(said: str) -> None:
    began_s = time.process_time()
    read_diagnostics(said, TRITON, "mine.py")
    assert time.process_time() - began_s < 1.0


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("_Z10add_kernelPKfS0_lPf", "add_kernel"),
        ("_Z3add", "add"),
        ("_Z7reverseILi128EfEvPKT0_PS0_", "reverse"),
        ("_ZN5space3addEv", "_ZN5space3addEv"),
        ("_Z99short", "_Z99short"),
    ],
)
def test_ptxas_names_a_kernel_as_its_author_does(mangled: str, name: str) -> None:
    said = f"Registers are spilled to local memory in function '{mangled}', 8 bytes spill stores"
    [found] = read_diagnostics(f"ptxas warning : {said}\n", "", "submission.cu")
    assert found.message == said.replace(mangled, name)


INLINE = '''source = """
__global__ void add(float* out) {
    out[0] = x;
    out[0] = y;
    out[0] = y;
}
"""
'''


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ("          out[0] = x;\n                   ^", ("mine.py", 3, 14)),
        ("  __attribute__((global)) void add(float* out) {", ("mine.py", 2, None)),
        ("          out[0] = y;", (".cache/torch_extensions/a/cuda.cu", 3, None)),
        ("", (".cache/torch_extensions/a/cuda.cu", 3, None)),
    ],
)
def test_an_error_in_a_text_of_load_inlines_has_its_line_of_the_file(
    shown: str, expected: tuple[str, int, int | None]
) -> None:
    """If the line that nvcc shows stands in the file once."""
    output = f".cache/torch_extensions/a/cuda.cu(3): error: undefined\n{shown}\n"
    (found,) = read_diagnostics(output, INLINE, "mine.py")
    assert expected == (found.file, found.line, found.column)


def test_an_error_of_tritons_that_names_an_object_is_told_once() -> None:
    kernel = "def k(x):\n    y = x[:2]\n        ^\n"
    calls = [
        f"triton.compiler.errors.CompilationError: at 2:8:\n{kernel}bad index: <slice at 0x{at}>"
        for at in ("7fe5", "7fe6")
    ]
    found = read_diagnostics("\n".join(calls), "", "mine.py")
    assert ["bad index: <slice>"] == [one.message for one in found]
