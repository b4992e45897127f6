from collections.abc import Mapping

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.catalog.document import MAX_NODES, MAX_TEXT_BYTES, DocumentItem, Scalar, parse

Plain = Scalar | list["Plain"] | dict[str, "Plain"]


def plain(item: DocumentItem) -> Plain:
    if isinstance(item.value, Mapping):
        return {key: plain(value) for key, value in item.value.items()}
    if isinstance(item.value, tuple):
        return [plain(part) for part in item.value]
    return item.value


def only_message(text: str) -> str:
    _, findings = parse(text, "x.yml")
    assert 1 == len(findings)
    return findings[0].message


def test_parse_gives_lines() -> None:
    item, findings = parse("a: 1\nb:\n  - x\n  - y\n", "x.yml")
    assert item is not None
    assert isinstance(item.value, Mapping)
    values = item.value["b"].value
    assert isinstance(values, tuple)
    assert ((), [3, 4]) == (findings, [part.line for part in values])


def test_merge_keys_and_aliases_read_as_yaml_does() -> None:
    text = "base: &b {m: 1, n: 2}\nother: {<<: *b, n: 3}\nlist: [*b, *b]\n"
    item, findings = parse(text, "x.yml")
    assert item is not None
    assert ((), yaml.safe_load(text)) == (findings, plain(item))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2\n", "written twice, first on line 1"),
        ("1: x\n", "a key must be text; put it in quotes"),
        ("a: .nan\n", "must be a finite number"),
        ("a: -.inf\n", "must be a finite number"),
        ("a: 2025-01-01\n", "a value of the kind `timestamp` isn't allowed; put it in quotes"),
        ("a: !!python/object:os.system x\n", None),
        ("a: " + "9" * 5000, None),
        ("a: 0x" + "f" * 5000, f"`0x{'f' * 38}` is too long for a number"),
        ("a: 1" + ":1" * 100_000, f"`1{':1' * 19}:` is too long for a number"),
        ('a: !!int ""', "`` can't be read as int"),
        ('a: !!float ""', "`` can't be read as float"),
        ("", "the file is empty"),
        ("a: [1\n", None),
        ("a: \0", None),
        ("a: &x [*x]\n", None),
        ("<<: 3\n", "`<<` needs a map"),
        ('a: "\\0"\n', "it holds a NUL character"),
        ('a: ["\\ud800"]\n', "it holds half of a surrogate pair"),
        ('"\\ud800": 1\n', "it holds half of a surrogate pair"),
        ("a: \x07\n", "not valid YAML: the character 0x07 isn't allowed"),
    ],
)
def test_bad_text_is_one_finding(text: str, message: str | None) -> None:
    found = only_message(text)
    assert message is None or message == found


def test_nesting_is_refused_without_recursion() -> None:
    assert only_message("[" * 100_000).startswith("nested more than")


def test_alias_bomb_is_refused() -> None:
    lines = ["l0: &l0 [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 9)}]" for i in range(1, 12)]
    assert "aliases" in only_message("\n".join(lines))


@pytest.mark.exhaustive  # each run has test_what_yaml_dumps_reads_back
def test_too_many_values_are_refused() -> None:
    assert str(MAX_NODES) in only_message("- 1\n" * (MAX_NODES + 1))


def test_a_giant_text_is_refused_unread() -> None:
    assert "larger than" in only_message("x" * (MAX_TEXT_BYTES + 1))


storable = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    storable,
)
trees = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(storable, inner, max_size=4)
    ),
    max_leaves=20,
).filter(lambda tree: tree is not None)


@given(tree=st.dictionaries(storable, trees, max_size=4))
def test_what_yaml_dumps_reads_back(tree: dict[str, Plain]) -> None:
    item, findings = parse(yaml.safe_dump(tree), "x.yml")
    assert item is not None
    assert ((), tree) == (findings, plain(item))


@given(text=st.text())
def test_no_text_raises(text: str) -> None:
    item, findings = parse(text, "x.yml")
    assert item is not None or findings
