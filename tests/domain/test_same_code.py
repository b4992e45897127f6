import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.domain.same_code import code_digest
from kernelbot.protocol import Lang

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
        PYTHON.replace(" in data", "in data"),
    ],
)
def test_another_python(other: str) -> None:
    assert code_digest(PYTHON, Lang.PY) != code_digest(other, Lang.PY)


def test_white_space_in_a_text_is_part_of_it() -> None:
    assert code_digest("x = 'a b'", Lang.PY) != code_digest("x = 'a  b'", Lang.PY)


@pytest.mark.parametrize(
    "again",
    [
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


@given(st.text(), st.sampled_from(list(Lang)))
def test_any_text_has_one(text: str, lang: Lang) -> None:
    assert 32 == len(code_digest(text, lang))


@given(st.lists(st.sampled_from(["a", "b1", "+", "(", '"x  y"', "'c'", "7"])), st.data())
def test_layout_between_c_tokens_is_nothing(tokens: list[str], data: st.DataObject) -> None:
    gaps = st.sampled_from([" ", "\n", "\t ", " /* c */ ", " // c\n", " \\\n "])
    spread = "".join(token + data.draw(gaps) for token in tokens)
    assert code_digest(" ".join(tokens), Lang.CPP) == code_digest(spread, Lang.CPP)
