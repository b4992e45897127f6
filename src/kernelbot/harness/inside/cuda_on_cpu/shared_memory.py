"""Declarations of shared memory: static arrays become variables that all threads of a block have,
dynamic ones point to the launch's memory."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kernelbot.harness.inside.cuda_on_cpu.tokens import SourceToken, SourceTokenKind

_QUALIFIERS = frozenset({"extern", "static", "volatile", "const", "__device__"})
_ALIGNMENTS = frozenset({"__align__", "alignas", "__builtin_align__"})
_MOST_BEFORE = 64
_LONGEST = 800
"""In tokens: how far a declaration reaches before and behind its `__shared__`, so that all of them
together take linear time. The next one ends it as well."""
_MOST_REPEATED = 4000
"""Characters of a type that stands before several names: it is written again for each."""
_NO_END = frozenset({"{", "}", "=", "#", "__shared__"})


class _Declared(NamedTuple):
    """A name with its type and sizes, as the author wrote them."""

    kind: str
    """Empty behind the first comma."""
    name: str
    sizes: tuple[str, ...]


def rewrite_shared(tokens: Sequence[SourceToken], texts: list[str]) -> None:
    """Rewrite what says `__shared__`. `texts`: what stands for each token, changed in place.

    What is written in an unusual way (with an initial value, or a type of its own) stays, and so
    do arrays of a fixed size in a directive: they become `static`."""
    declarations = _Declarations(tokens, texts)
    for at, token in enumerate(tokens):
        if token.text == "__shared__":
            declarations.rewrite(at)


class _Declarations:
    def __init__(self, tokens: Sequence[SourceToken], texts: list[str]) -> None:
        self._tokens = tokens
        self._texts = texts
        self._directives = directives(tokens)

    def rewrite(self, at: int) -> None:
        """Rewrite the declaration whose `__shared__` is at `at`."""
        first, last = self._beginning(at), self._end(at)
        text = None if last is None else self._text(at, self._tokens[first:last])
        if text is None or last is None:
            for i in range(first, at):
                if self._tokens[i].text == "static":  # `__shared__` says it as well
                    self._texts[i] = ""
            return
        self._texts[first] = text
        for i in range(first + 1, last):
            if self._tokens[i].kind is not SourceTokenKind.SPACE:
                self._texts[i] = ""

    def _text(self, at: int, tokens: Sequence[SourceToken]) -> str | None:
        """What the declaration becomes; None if it stays."""
        qualifiers, alignment, rest = _sorted_out(tokens)
        volatile = "volatile " if "volatile" in qualifiers else ""
        if "extern" in qualifiers:  # the launch's memory is aligned more than any declaration
            return _dynamic(rest, volatile)
        if self._directives[at]:  # names are its parameters, or it declares nothing
            return None
        return _static(rest, volatile, alignment)

    def _beginning(self, at: int) -> int:
        """Where the declaration's qualifiers begin."""
        lowest = max(0, at - _MOST_BEFORE)
        while lowest < at and self._directives[lowest] != self._directives[at]:
            lowest += 1
        first = i = at
        while i > lowest:
            i -= 1
            token = self._tokens[i]
            if token.text == ")":
                i = self._alignment(i, lowest)
                if i < lowest:
                    break
            elif token.kind is SourceTokenKind.SPACE:
                continue
            elif token.text not in _QUALIFIERS:
                break
            first = i
        return first

    def _alignment(self, closing: int, lowest: int) -> int:
        """Where the alignment begins whose `)` is at `closing`; -1 if it is none."""
        depth = 0
        for i in range(closing, lowest - 1, -1):
            text = self._tokens[i].text
            depth += (text == ")") - (text == "(")
            if depth == 0 and self._tokens[i].kind is not SourceTokenKind.SPACE and text != "(":
                return i if text in _ALIGNMENTS else -1
        return -1

    def _end(self, at: int) -> int | None:
        """Where its `;` is, or the end of the directive that it is in; None if there is none, as in
        a macro."""
        for i in range(at + 1, min(at + _LONGEST, len(self._tokens))):
            if self._directives[i] != self._directives[at]:
                return i if self._directives[at] else None
            if self._tokens[i].text == ";":
                return i
            if self._tokens[i].text in _NO_END:
                return None
        return None


def directives(tokens: Sequence[SourceToken]) -> list[int]:
    """By token: the number of the preprocessor's directive that it is in, from 1; 0 outside."""
    found, count, current = [], 0, 0
    for token in tokens:
        if token.kind is SourceTokenKind.SPACE:
            if current and token.text[0] != "/" and "\n" in _unescaped(token.text):
                current = 0
        elif token.text == "#" and not current:
            count += 1
            current = count
        found.append(current)
    return found


def _unescaped(space: str) -> str:
    return space.replace("\\\r\n", "").replace("\\\n", "")


def _sorted_out(tokens: Sequence[SourceToken]) -> tuple[set[str], str, list[SourceToken]]:
    """Qualifiers, alignment, and the type with all names."""
    qualifiers: set[str] = set()
    alignment = ""
    rest: list[SourceToken] = []
    at = 0
    while at < len(tokens):
        text = tokens[at].text
        end = at + 1
        if text in _ALIGNMENTS:
            end = _behind_brackets(tokens, at + 1)
            alignment += flat(tokens[at:end]) + " "
        elif text in _QUALIFIERS or text == "__shared__":
            qualifiers.add(text)
        else:
            rest.append(tokens[at])
        at = end
    return qualifiers, alignment, rest


def _behind_brackets(tokens: Sequence[SourceToken], at: int) -> int:
    """The place behind the brackets that begin at `at`, or behind white space there."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i].text == "(") - (tokens[i].text == ")")
        if depth == 0 and tokens[i].kind is not SourceTokenKind.SPACE:
            return i + 1
    return len(tokens)


def flat(tokens: Sequence[SourceToken]) -> str:
    """The tokens' text in one line. Blanks stay where they are: `<<` would else become two
    operators."""
    return "".join(
        " " if token.kind is SourceTokenKind.SPACE else token.text for token in tokens
    ).strip()


def _depths(tokens: Sequence[SourceToken]) -> Iterator[tuple[SourceToken, int]]:
    """Each token with the number of brackets that are open behind it. `<` and `>` are brackets of a
    template's arguments outside of other brackets, and compare or shift within them."""
    brackets = angles = 0
    for token in tokens:
        if token.text in ("(", "["):
            brackets += 1
        elif token.text in (")", "]"):
            brackets -= 1
        elif brackets == 0:
            angles += {"<": 1, ">": -1, ">>>": -3}.get(token.text, 0)
        yield token, brackets + angles


def _pieces(tokens: Sequence[SourceToken]) -> list[list[SourceToken]]:
    """What commas outside of all brackets separate."""
    found: list[list[SourceToken]] = [[]]
    for token, depth in _depths(tokens):
        if token.text == "," and depth == 0:
            found.append([])
        else:
            found[-1].append(token)
    return found


def _declared(piece: Sequence[SourceToken]) -> _Declared | None:
    """None if it is written otherwise."""
    name, end = None, len(piece)
    for at, (token, depth) in enumerate(_depths(piece)):
        if token.text == "[" and depth == 1:
            end = at
            break
        if depth == 0 and token.kind is SourceTokenKind.NAME:
            name = at
    if name is None:
        return None
    kind, sizes = flat(piece[:name]), _sizes(piece[end:])
    if sizes is None or flat(piece[name + 1 : end]) or kind.endswith(("(", "*", "&")):
        return None
    return _Declared(kind, piece[name].text, sizes)


def _sizes(tokens: Sequence[SourceToken]) -> tuple[str, ...] | None:
    """What stands in each pair of square brackets; None if anything stands outside of them."""
    found: list[str] = []
    within: list[SourceToken] | None = None
    for token, depth in _depths(tokens):
        if within is not None and depth > 0:
            within.append(token)
        elif within is not None and token.text == "]":
            found.append(flat(within))
            within = None
        elif token.text == "[":
            within = []
        elif token.kind is not SourceTokenKind.SPACE:
            return None
    return tuple(found) if within is None else None


def _array(sizes: Sequence[str]) -> str:
    """Each size in parentheses, since a `>` in it would end a template's arguments."""
    return "".join(f"[({size})]" for size in sizes)


def _static(rest: Sequence[SourceToken], volatile: str, alignment: str) -> str | None:
    parts = [_declared(piece) for piece in _pieces(rest)]
    if parts[0] is None or not parts[0].kind:
        return None
    kind = volatile + parts[0].kind
    if len(kind) * (len(parts) - 1) > _MOST_REPEATED:
        return None
    made = []
    for part in parts:
        if part is None or (part is not parts[0] and part.kind) or "" in part.sizes:
            return None
        name = part.name
        made.append(
            f"{alignment}static ::cuda_on_cpu::Shared<{kind}{_array(part.sizes)}> "
            f'{name}_shared{{"{name}"}}; auto &{name} = {name}_shared.entered().value'
        )
    return "; ".join(made)


def _dynamic(rest: Sequence[SourceToken], volatile: str) -> str | None:
    part = _declared(rest)
    if part is None or part.sizes[:1] != ("",) or not part.kind:
        return None
    kind, further = volatile + part.kind, _array(part.sizes[1:])
    to = f"{kind} (*){further}" if further else f"{kind} *"
    declared = f"{kind} (*const {part.name}){further}" if further else f"{kind} *const {part.name}"
    return f"{declared} = reinterpret_cast<{to}>(::cuda_on_cpu::dynamic_shared)"
