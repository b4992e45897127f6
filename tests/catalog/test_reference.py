import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.catalog.reference import Signature, names_module_input, read_reference

NOTHING: frozenset[str] = frozenset()


def signature(parameters: str) -> Signature:
    found = read_reference(f"def generate_input({parameters}): ...\n").signature
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("parameters", "given_names", "trouble"),
    [
        ("a, b", {"a", "b"}, None),
        ("a, b=1", {"a"}, None),
        ("a, *, b", {"a"}, "generate_input needs `b`, which the case doesn't give"),
        ("a, *, b=2", {"a"}, None),
        ("a", {"a", "c", "d"}, "generate_input doesn't take `c`, `d`"),
        ("a, **rest", {"a", "c"}, None),
        ("a, /, b", {"a", "b"}, "generate_input doesn't take `a`"),
        ("", set(), None),
    ],
)
def test_cases_are_held_to_the_signature(
    parameters: str, given_names: set[str], trouble: str | None
) -> None:
    assert trouble == signature(parameters).trouble(frozenset(given_names), NOTHING)


def test_what_others_supply_is_not_missing() -> None:
    assert signature("rank, size").trouble(frozenset({"size"}), frozenset({"rank"})) is None


@pytest.mark.parametrize(
    "text",
    [
        "def check_implementation(data, output): ...",
        "check_implementation = make_match_reference(ref_kernel)",
        "check_implementation: object = print",
        "from utils import check_implementation",
        "from utils import anything as check_implementation",
    ],
)
def test_a_name_may_be_bound_in_any_way(text: str) -> None:
    assert "check_implementation" in read_reference(text).defines


def test_names_inside_functions_are_not_the_files_own() -> None:
    text = "def f():\n    def generate_input(): ...\n"
    assert frozenset({"f"}) == read_reference(text).defines


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return Cache()", ("Cache",)),
        ("cache = Cache().to('cuda').eval()\n    return size, cache", ("Cache",)),
        ("cache = Cache()\n    return size", ()),
        ("return [Cache(), Cache()]", ("Cache",)),
        ("return dict(a=1)", ()),
    ],
)
def test_own_classes_in_the_input_are_noticed(body: str, expected: tuple[str, ...]) -> None:
    text = f"class Cache: ...\n\ndef generate_input(size):\n    {body}\n"
    assert expected == read_reference(text).own_classes_in_input


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("input_t = TypeVar('input_t', bound=tuple[torch.nn.Module, int])", True),
        ("input_t = tuple[Module, int]", True),
        ("input_t = tuple[torch.Tensor, int]", False),
        ("output_t = torch.nn.Module", False),
        ("def broken(:", False),
    ],
)
def test_a_module_in_the_input_type_is_noticed(text: str, expected: bool) -> None:
    assert expected == names_module_input(text)


@given(text=st.text() | st.integers(1, 20_000).map(lambda depth: "(" * depth + ")" * depth))
def test_bad_text_is_a_syntax_error_at_most(text: str) -> None:
    try:
        found = read_reference(text)
    except SyntaxError:
        return
    assert isinstance(found.defines, frozenset)
