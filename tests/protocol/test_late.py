"""Late dataclasses are those of `dataclasses`, whatever their fields are, however they are used."""

import ast
import copy
import dataclasses
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.protocol import late

Declare = Callable[[type], type]
SOURCES = Path(late.__file__).parents[1]
NAMES = ("a", "b", "c", "d")


@dataclasses.dataclass(frozen=True)
class Declared:
    """What a class says of itself."""

    fields: tuple[tuple[str, str], ...]
    kw_only: bool
    methods: tuple[str, ...]


def declarations(names: tuple[str, ...]) -> st.SearchStrategy[Declared]:
    kinds = st.sampled_from(("needed", "default", "field", "factory", "named", "unseen"))
    fields = st.lists(st.tuples(st.sampled_from(names), kinds), unique_by=lambda one: one[0])
    methods = ("__post_init__", "__eq__", "__hash__", "__repr__")
    return st.builds(
        Declared,
        fields.map(tuple),
        st.booleans(),
        st.lists(st.sampled_from(methods), unique=True).map(tuple),
    )


def made(declared: Declared, declare: Callable[..., Any], base: type | None = None) -> type:
    """The class, the same for each way to declare it."""
    space: dict[str, Any] = {"__annotations__": {}, "__doc__": "Words.", "__module__": __name__}
    space["__qualname__"] = "Outer.Thing"  # errors say it
    for name, kind in declared.fields:
        space["__annotations__"][name] = int
        if (default := _default(name, kind)) is not dataclasses.MISSING:
            space[name] = default
    space |= {name: _METHODS[name] for name in declared.methods}
    if "__eq__" in declared.methods:
        space.setdefault("__hash__", None)  # as a class statement does
    cls = type("Thing", (base,) if base else (), space)
    found: type = declare(frozen=True, kw_only=declared.kw_only)(cls)
    return found


def _default(name: str, kind: str) -> Any:
    field: dict[str, dict[str, Any]] = {
        "field": {"default": name},
        "factory": {"default_factory": list},
        "named": {"kw_only": True},
        "unseen": {"repr": False, "compare": False, "default": 3},
    }
    if kind in field:
        return dataclasses.field(**field[kind])
    return name if kind == "default" else dataclasses.MISSING


_METHODS: dict[str, Any] = {
    "__post_init__": lambda self: object.__setattr__(self, "seen", sorted(vars(self))),
    "__eq__": lambda self, other: type(self).__name__ == type(other).__name__,
    "__hash__": lambda self: 7,
    "__repr__": lambda self: "a thing",
}


def outcome(act: Callable[[], object]) -> object:
    """What it gives, or the error that it raises."""
    try:
        return act()
    except Exception as error:  # noqa: BLE001 (compared with the other class's)
        return type(error), str(error)


def uses(kind: Any, args: list[Any], given: dict[str, Any]) -> list[object]:
    """What comes of all that can be done with a class and its values."""
    one = outcome(lambda: kind(*args, **given))
    known = [
        [(field.name, field.type, field.kw_only) for field in dataclasses.fields(kind)],
        kind.__match_args__,
        kind.__doc__,
    ]
    if not isinstance(one, kind):
        return [*known, one]
    same, another = kind(*args, **given), outcome(lambda: dataclasses.replace(one, a=[5]))
    return [
        *known,
        vars(one),
        outcome(lambda: repr(one)),
        outcome(lambda: (one == same, one != same, one == another, one == 3)),
        outcome(lambda: hash(one) == hash(same)),
        outcome(lambda: vars(another)) if isinstance(another, kind) else another,
        outcome(lambda: dataclasses.asdict(one)),
        *(outcome(partial(setattr, one, name, 1)) for name in (*NAMES, "other")),
        *(outcome(partial(delattr, one, name)) for name in (*NAMES, "other")),
        vars(copy.copy(one)),
        copy.deepcopy(one) == one,
    ]


arguments = st.lists(st.one_of(st.integers(0, 3), st.just([1])), max_size=5)
keywords = st.dictionaries(st.sampled_from((*NAMES, "unknown")), st.integers(0, 3))


@pytest.fixture(autouse=True)
def are_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(late, "_is_late", True)


@given(declarations(NAMES), arguments, keywords)
def test_a_late_class_is_used_as_any_other(
    declared: Declared, args: list[Any], given: dict[str, Any]
) -> None:
    try:
        usual = made(declared, dataclasses.dataclass)
    except TypeError:  # a needed argument after others, which is seen as the module is loaded
        return
    assert uses(usual, args, given) == uses(made(declared, late.dataclass), args, given)


@given(declarations(("a", "b")), declarations(("b", "c", "d")), arguments, keywords)
def test_a_late_class_inherits_from_another(
    base: Declared, declared: Declared, args: list[Any], given: dict[str, Any]
) -> None:
    try:
        usual = made(declared, dataclasses.dataclass, made(base, dataclasses.dataclass))
    except TypeError:
        return
    found = made(declared, late.dataclass, made(base, late.dataclass))
    assert uses(usual, args, given) == uses(found, args, given)


@given(declarations(("a", "b")), declarations(("b", "c", "d")), arguments, keywords)
def test_a_late_class_inherits_from_one_of_dataclasses(
    base: Declared, declared: Declared, args: list[Any], given: dict[str, Any]
) -> None:
    try:
        above = made(base, dataclasses.dataclass)
        usual = made(declared, dataclasses.dataclass, above)
    except TypeError:
        return
    assert uses(usual, args, given) == uses(made(declared, late.dataclass, above), args, given)


@late.dataclass(frozen=True)
class Stored:
    """One that pickle finds by its name."""

    number: int


def test_a_value_is_compared_before_any_was_made() -> None:
    cls: Any = made(Declared((("a", "needed"),), False, ()), late.dataclass)
    one, other = cls.__new__(cls), cls.__new__(cls)
    for value in (one, other):
        vars(value)["a"] = 5  # as pydantic and pickle fill it
    assert (True, True, "Outer.Thing(a=5)") == (one == other, hash(one) == hash(other), repr(one))
    assert Stored(3) == pickle.loads(pickle.dumps(Stored(3)))


def test_the_class_of_a_subclass_that_is_none_itself_stays_frozen() -> None:
    cls: Any = made(Declared((("a", "needed"),), False, ()), late.dataclass)
    below = type("Below", (cls,), {})(1)
    below.more, below.less = 2, 3
    del below.less
    assert {"a": 1, "more": 2} == vars(below)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'a'"):
        below.a = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'a'"):
        del below.a


def test_methods_are_compiled_when_they_are_called() -> None:
    cls: Any = made(Declared((("a", "needed"),), False, ()), late.dataclass)
    assert "<string>" != cls.__hash__.__code__.co_filename
    assert hash((1,)) == hash(cls(1))
    assert "<string>" == cls.__hash__.__code__.co_filename


@pytest.mark.parametrize("kw_only", [False, True])
def test_a_value_is_made_without_compiling_anything(
    monkeypatch: pytest.MonkeyPatch, kw_only: bool
) -> None:
    fields = (("a", "needed"), ("b", "default"), ("c", "factory"), ("d", "named"))
    cls: Any = made(Declared(fields, kw_only, ()), late.dataclass)
    monkeypatch.setattr(dataclasses, "make_dataclass", None)
    ways = [cls(a=1, d=4), cls(a=1, b="b", c=[], d=4)] + ([] if kw_only else [cls(1, "b", d=4)])
    assert [{"a": 1, "b": "b", "c": [], "d": 4}] * len(ways) == [vars(one) for one in ways]


def test_classes_are_late_once_a_process_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(late, "_is_late", False)
    late.compile_when_called()
    cls: Any = made(Declared((("a", "needed"),), False, ()), late.dataclass)
    assert "<string>" != cls.__init__.__code__.co_filename


@pytest.mark.parametrize("flags", [{}, {"frozen": True, "slots": True}, {"frozen": False}])
def test_other_classes_are_those_of_dataclasses(flags: dict[str, bool]) -> None:
    class Thing:
        """Words."""

        number: int

    cls: Any = late.dataclass(**flags)(Thing)
    assert "<string>" == cls.__init__.__code__.co_filename


def test_a_class_without_words_gets_its_signature() -> None:
    @late.dataclass(frozen=True)
    class Thing:
        number: int

    assert "Thing(number: int)" == Thing.__doc__


@pytest.mark.parametrize("method", sorted(_METHODS))
def test_a_method_of_its_own_stays(method: str) -> None:
    declared = Declared((("a", "needed"), ("b", "default")), False, (method,))
    ways = (dataclasses.dataclass, late.dataclass)
    usual, found = (uses(made(declared, way), [1], {}) for way in ways)
    assert usual == found


@pytest.mark.exhaustive  # each run has test_a_late_class_inherits_from_one_of_dataclasses
def test_no_class_of_dataclasses_inherits_from_a_late_one() -> None:
    declared: dict[bool, list[ast.ClassDef]] = {True: [], False: []}
    for file in SOURCES.rglob("*.py"):
        text = file.read_text()
        is_late = "from kernelbot.protocol.late import dataclass" in text
        classes = [one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.ClassDef)]
        declared[is_late] += [
            one for one in classes if any("dataclass" in ast.unparse(d) for d in one.decorator_list)
        ]
    names = {one.name for one in declared[True]}
    assert len(names) > 100
    assert [] == [
        one.name
        for one in declared[False]
        if names & {ast.unparse(base).partition("[")[0] for base in one.bases}
    ]
