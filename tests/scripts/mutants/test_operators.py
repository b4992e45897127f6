import pytest
from scripts.mutants.operators import Operator, mutants


def made(source: str) -> list[tuple[Operator, str]]:
    """The changes of a module, each with what the whole reads then."""
    found = mutants("m.py", source.encode())
    return [(mutant.operator, mutant.applied(source.encode()).decode()) for mutant in found]


@pytest.mark.parametrize(
    ("source", "operator", "expected"),
    [
        ("a = b < c", Operator.COMPARISON, ["a = (b <= c)", "a = (b >= c)"]),
        ("a = b < c == d", Operator.COMPARISON, ["(b <= c == d)", "(b >= c == d)", "(b < c != d)"]),
        ("a = b is None", Operator.COMPARISON, ["a = (b is not None)"]),
        ("a = b and c", Operator.BOOLEAN, ["a = (b or c)"]),
        ("a = not b", Operator.NEGATION, ["a = (b)"]),
        ("a = b - c", Operator.ARITHMETIC, ["a = (b + c)"]),
        ("a = 'é' 'x', 0", Operator.CONSTANT, ["a = 'é' 'x', 1"]),
        ("a = 0.5, 1e9", Operator.CONSTANT, ["a = 0.5, 2000000000.0", "a = 1.5, 1e9"]),
        ("a = False", Operator.CONSTANT, ["a = True"]),
        ("a = [b for b in c if b.d]", Operator.CONDITION, ["a = [b for b in c if True]"]),
        ("a = b if c() else d", Operator.CONDITION, ["a = b if (not c()) else d"]),
        ("def f():\n    g(a)\n    return 'x'", Operator.STATEMENT, ["    pass\n"]),
        ("a.b = c", Operator.STATEMENT, ["pass"]),
        ("for a in b:\n    continue", Operator.STATEMENT, ["for a in b:\n    break"]),
        ("@cache\ndef f(): ...", Operator.DECORATOR, ["def f(): ..."]),
        ("a = f(b, c, *d)", Operator.ARGUMENTS, ["a = f(c, b, *d)"]),
    ],
)
def test_a_change_of_each_kind(source: str, operator: Operator, expected: list[str]) -> None:
    found = [text for kind, text in made(source) if kind is operator]
    assert len(expected) == len(found)
    assert all(part in text for part, text in zip(sorted(expected), sorted(found), strict=True))


@pytest.mark.parametrize(
    "source",
    [
        "import a",
        "'''Text.'''",
        "a: dict[str, int | None]",
        "def f(a: int | None) -> str | None: ...",
        "assert a is not None",
        "a = 'one' + b",
        "a = f'{b + 1}'",
        "@dataclass(frozen=True)\nclass A: ...",
        "class A:\n    def __init__(self):\n        self.a = b",
        "a = isinstance(b, c)",
        "a = get(session, b)",
        "a = min(b, c)",
        "a = zip(b, strict=True)",
    ],
)
def test_what_others_watch_over_stays(source: str) -> None:
    assert [] == made(source)


def test_a_change_knows_where_it_is() -> None:
    (found,) = mutants("m.py", b"class A:\n    def f(self):\n        return self.a == 'x'\n")
    assert ("A.f", 3, "self.a == 'x'") == (found.function, found.line, found.before)


def test_every_change_can_be_read_by_python() -> None:
    source = __file__
    with open(source, "rb") as file:  # noqa: PTH123 (any module would do)
        text = file.read()
    for mutant in mutants("m.py", text):
        compile(mutant.applied(text), "m.py", "exec")
