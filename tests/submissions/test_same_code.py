import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.protocol import Lang
from kernelbot.submissions.same_code import code_digest

PYTHON = """\
def custom_kernel(data):
    for row in data:
        row += 1
    return data
"""
CUDA = """\
__global__ void add(float *data) {  /* one more */
    data[threadIdx.x] += 1'000; // each
    asm("bar.sync  0;"); auto s = R"x( "  )x";
}
"""


@pytest.mark.parametrize(
    "again",
    [
        PYTHON + "\n# again\n",
        PYTHON.replace("\n", "\r\n"),
        PYTHON.replace("    ", "\t"),
        PYTHON.replace("row += 1", "row+=1  # one"),
        PYTHON.replace("(data)", "(\n    data\n)"),
        PYTHON.replace("return data", "return \\\n    data"),
        "\ufeff" + PYTHON,
        PYTHON.replace("row", "line"),
        PYTHON.replace("data", "values"),
        PYTHON.replace("data):\n", 'data):\n    """Again."""\n'),
    ],
)
def test_the_same_python(again: str) -> None:
    assert code_digest(PYTHON, Lang.PY) == code_digest(again, Lang.PY)


@pytest.mark.parametrize(
    "other",
    [
        PYTHON.replace("    return", "        return"),
        PYTHON.replace("row += 1", "row += 2"),
        PYTHON.replace("row += 1", "row += 1\n        pass"),
        PYTHON + "x = 'a  b'",
        PYTHON.replace("return data", "return row"),
        PYTHON.replace("return data", "return other"),
    ],
)
def test_another_python(other: str) -> None:
    assert code_digest(PYTHON, Lang.PY) != code_digest(other, Lang.PY)


def test_white_space_in_a_text_is_part_of_it() -> None:
    assert code_digest("x = 'a b'", Lang.PY) != code_digest("x = 'a  b'", Lang.PY)


LONGER = """\
import numpy as np
from helper import fast as quick, slow

SCALE = 3

def part(values, factor=SCALE):
    total = [value * factor for value in values if (last := value)]
    def inner():
        nonlocal total
        total = total[:1]
        return last
    try:
        return sum(total) + inner()
    except ValueError as error:
        raise slow(error) from error

class Kernel:
    size = 4
    def run(self, data):
        match data:
            case [first, *rest]:
                return part(rest, factor=first)
            case {"a": one, **others}:
                return quick(one, others, key=lambda other: other + self.size)

def custom_kernel(data):
    global SCALE
    SCALE = 4
    return np.asarray(Kernel().run(data))
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("np", "numpy_"),
        ("quick", "speedy"),
        ("slow", "slow as late"),
        ("SCALE", "TIMES"),
        ("part", "piece"),
        ("values", "numbers"),
        ("total", "sums"),
        ("value", "each"),
        ("last", "newest"),
        ("inner", "nested"),
        ("error", "problem"),
        ("Kernel", "Other"),
        ("self", "this"),
        ("first", "head"),
        ("rest", "tail"),
        ("one", "single"),
        ("others", "more"),
        ("other", "element"),
        ("data", "given"),
    ],
)
def test_names_are_the_authors(old: str, new: str) -> None:
    if " as " in new:
        again = LONGER.replace(f", {old}\n", f", {new}\n").replace(f"{old}(", "late(")
    else:
        again = re.sub(rf"\b{old}\b", new, LONGER)
    assert LONGER != again
    assert code_digest(LONGER, Lang.PY) == code_digest(again, Lang.PY)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("numpy as", "cupy as"),
        ("fast as", "faster as"),
        ("size = 4", "width = 4"),
        ("self.size", "self.length"),
        ("factor=first", "times=first"),
        ("def run", "def walk"),
        ("global SCALE\n    ", ""),
        ("nonlocal total\n        ", ""),
        ("sum(total)", "sum(values)"),
        ("case [first, *rest]", "case [rest, *first]"),
    ],
)
def test_other_names_are_not(old: str, new: str) -> None:
    assert old in LONGER
    assert code_digest(LONGER, Lang.PY) != code_digest(LONGER.replace(old, new), Lang.PY)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a = 1\na = 2\nb = 3\nuse(b)", "a = 1\na = 2\nc = 3\nuse(c)"),
        ("x = 1\nclass A:\n    x = 2\n    y = x", "z = 1\nclass A:\n    x = 2\n    y = x"),
        ("def f(a): return a\na = 2\nuse(a)", "def f(b): return b\na = 2\nuse(a)"),
        ("x = 1\ndef f(*, a=x): return a", "y = 1\ndef f(*, a=y): return a"),
        ("def f(*, a): return a", "def f(*, b): return b"),
        ("d = 1\n@d\ndef f(): return 1", "e = 1\n@e\ndef f(): return 1"),
        ("T = 1\ndef f() -> T: return 1", "U = 1\ndef f() -> U: return 1"),
        ("T = 1\ndef f(a: T): return 1", "U = 1\ndef f(a: U): return 1"),
        ("B = 1\nclass A(B): x = 1", "C = 1\nclass A(C): x = 1"),
        ("B = 1\nclass A(metaclass=B): x = 1", "C = 1\nclass A(metaclass=C): x = 1"),
        ("d = 1\n@d\nclass A: x = 1", "e = 1\n@e\nclass A: x = 1"),
    ],
)
def test_so_are_names_wherever_they_are_used(one: str, other: str) -> None:
    assert code_digest(one, Lang.PY) == code_digest(other, Lang.PY)


def test_what_an_import_binds_is_told_from_what_was_there() -> None:
    one, other = (f"{name} = 1\nimport a.b\nuse({name})" for name in ("a", "c"))
    assert code_digest(one, Lang.PY) != code_digest(other, Lang.PY)


def test_a_function_may_call_a_module_as_it_likes() -> None:
    one, other = (
        f"def f():\n    import a.b as {name}\n    return {name}.b.run()" for name in ("a", "c")
    )
    assert code_digest(one, Lang.PY) == code_digest(other, Lang.PY)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(a, b): return a - b\nf(a=1, b=2)", "def f(b, a): return b - a\nf(a=1, b=2)"),
        ("def f(M, N): return M\ntune(['M'])", "def f(N, M): return N\ntune(['M'])"),
        ("def f(a, b): return eval('a')", "def f(b, a): return eval('a')"),
        ("def f(a, b): return locals()", "def f(b, a): return locals()"),
        ("x = 1\ndef f(): return x", "y = 1\ndef f(): return x"),
        ("def f(a): return [a for a in a]", "def f(a): return [b for a in a]"),
        ("a = 1\ndef f(a): return [a for a in a]", "a = 1\ndef f(b): return [a for a in a]"),
        ("import os.path\nos.x", "import os.path as os\nos.x"),
        (
            "class A:\n    x = 1\n    def f(self): return x",
            "class A:\n    x = 1\n    def f(x): return x",
        ),
    ],
)
def test_what_is_asked_for_by_its_name_keeps_it(one: str, other: str) -> None:
    assert code_digest(one, Lang.PY) != code_digest(other, Lang.PY)


@pytest.mark.parametrize(
    "again",
    [
        "\ufeff" + CUDA,
        "// again\n" + CUDA,
        CUDA.replace("\n", "\r\n").replace("    ", "\t"),
        CUDA.replace("/* one more */", "/**/").replace("// each", ""),
        CUDA.replace("[threadIdx.x] +=", " [ threadIdx . x ]\\\n+ ="),
    ],
)
@pytest.mark.parametrize("lang", [Lang.CU, Lang.CPP])
def test_the_same_c(again: str, lang: Lang) -> None:
    assert code_digest(CUDA, lang) == code_digest(again, lang)


@pytest.mark.parametrize(
    "other",
    [
        CUDA.replace("bar.sync  0", "bar.sync 0"),
        CUDA.replace('R"x( "', 'R"x("'),
        CUDA.replace("float *", "double *"),
        CUDA.replace("// each", "; // each"),
        CUDA.replace("__global__ void", "__global__void"),
    ],
)
def test_another_c(other: str) -> None:
    assert code_digest(CUDA, Lang.CU) != code_digest(other, Lang.CU)


@pytest.mark.parametrize("broken", ["(", "x = '''", "  x\n y", "# nothing but words", ""])
def test_what_is_no_code_is_compared_by_its_lines(broken: str) -> None:
    once = code_digest(broken, Lang.PY)
    assert once == code_digest(f"\n{broken}  \n\n", Lang.PY)
    assert once != code_digest(f"{broken} # more\n", Lang.PY)


@pytest.mark.parametrize("piece", ["/*", "/**", 'R"(', '"', '"\\', "'", "(", "{\n", "'''", "1"])
@pytest.mark.parametrize("lang", list(Lang))
def test_hostile_text_is_read_to_its_end(piece: str, lang: Lang) -> None:
    assert 32 == len(code_digest(piece * 20_000, lang))


LONG = "if x:\n    y = f(1)\n" * 5000


@pytest.mark.parametrize(
    ("again", "is_same"),
    [
        (LONG.replace("\n", "  \n\n"), True),
        (LONG.replace("f(1)", "f( 1 )"), False),
        (LONG + "y = 1\n", False),
        (LONG + "    y = 1\n", False),
    ],
    ids=["empty lines", "layout within a line", "another line", "an indented line"],
)
def test_very_long_python_is_compared_by_its_lines(again: str, *, is_same: bool) -> None:
    """To read the longest as code takes seconds, and its author makes them."""
    assert is_same is (code_digest(LONG, Lang.PY) == code_digest(again, Lang.PY))


@given(st.text(), st.sampled_from(list(Lang)))
def test_any_text_has_one(text: str, lang: Lang) -> None:
    assert 32 == len(code_digest(text, lang))


@given(st.lists(st.sampled_from(["a", "b1", "+", "(", '"x  y"', "'c'", "7"])), st.data())
def test_layout_between_c_tokens_is_nothing(tokens: list[str], data: st.DataObject) -> None:
    gaps = st.sampled_from([" ", "\n", "\t ", " /* c */ ", " // c\n", " \\\n "])
    spread = "".join(token + data.draw(gaps) for token in tokens)
    assert code_digest(" ".join(tokens), Lang.CPP) == code_digest(spread, Lang.CPP)


@pytest.mark.parametrize(
    ("source", "old", "new"),
    [
        ("import functools as f\n@f.cache\ndef k(x):\n    return x\n", "f.", "g."),
        ("T = int\ndef k(x: T) -> T:\n    return x\n", "T", "U"),
        ("class A:\n    pass\nclass B(A):\n    pass\n", "A", "C"),
        ("def f(*, k, m=1):\n    return k\nf\n", "f", "g"),
        ("def f(x=1, *, y=2):\n    return x\n", "x", "z"),
    ],
)
def test_names_are_the_authors_wherever_they_stand(source: str, old: str, new: str) -> None:
    renamed = re.sub(rf"\b{re.escape(old)}", new, source).replace("as f\n", f"as {new[0]}\n")
    assert source != renamed
    assert code_digest(source, Lang.PY) == code_digest(renamed, Lang.PY)
