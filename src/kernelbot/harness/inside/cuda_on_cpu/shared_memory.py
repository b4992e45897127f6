"""Declarations of shared memory: static arrays become variables that all threads of a block have,
dynamic ones point to the launch's memory."""

from collections.abc import Callable, Sequence

from kernelbot.harness.inside.cuda_on_cpu.tokens import Kind, Token

_QUALIFIERS = frozenset({"extern", "static", "volatile", "const", "__device__"})
_ALIGNMENTS = frozenset({"__align__", "alignas", "__builtin_align__"})
_LONGEST = 400
_OPEN, _CLOSE = frozenset("([{<"), frozenset(")]}>")

Set = Callable[[int, str], None]
_Piece = list[str]


def rewrite_shared(tokens: Sequence[Token], set_text: Set) -> None:
    """Rewrite what says `__shared__`. `set_text`: gives a token another text. What is written in an
    unusual way (with an initial value, or a type of its own) stays: it becomes `static`."""
    for at, token in enumerate(tokens):
        if token.text == "__shared__":
            _rewrite(tokens, at, set_text)


def _rewrite(tokens: Sequence[Token], at: int, set_text: Set) -> None:
    first = _beginning(tokens, at)
    last = _end(tokens, at)
    if last is None:
        return
    qualifiers, alignment, rest = _sorted_out(tokens[first:last])
    if "extern" in qualifiers:
        text = _dynamic(rest, "volatile" in qualifiers, alignment)
    else:
        text = _static(rest, "volatile" in qualifiers, alignment)
    if text is None:
        for i in range(first, at):
            if tokens[i].text == "static":  # `__shared__` says it as well
                set_text(i, "")
        return
    set_text(first, text)
    for i in range(first + 1, last):
        set_text(i, "")


def _beginning(tokens: Sequence[Token], at: int) -> int:
    """Where the declaration's qualifiers begin."""
    while at > 0:
        if tokens[at - 1].text in _QUALIFIERS:
            at -= 1
        elif tokens[at - 1].text == ")":
            opening = at - 1
            while opening > 0 and tokens[opening].text != "(":
                opening -= 1
            if tokens[opening - 1].text not in _ALIGNMENTS:
                return at
            at = opening - 1
        else:
            return at
    return at


def _end(tokens: Sequence[Token], at: int) -> int | None:
    """Where its `;` is; None if there is none, as in a macro."""
    for i in range(at, min(at + _LONGEST, len(tokens))):
        if tokens[i].text == ";":
            return i
        if tokens[i].text in ("{", "}", "=", "#"):
            return None
    return None


def _sorted_out(tokens: Sequence[Token]) -> tuple[set[str], str, list[Token]]:
    """Qualifiers, alignment, and the type with all names."""
    qualifiers: set[str] = set()
    alignment = ""
    rest: list[Token] = []
    at = 0
    while at < len(tokens):
        text = tokens[at].text
        if text in _ALIGNMENTS:
            depth, end = 0, at + 1
            while end < len(tokens):
                depth += (tokens[end].text == "(") - (tokens[end].text == ")")
                end += 1
                if depth == 0:
                    break
            alignment += "".join(token.text for token in tokens[at:end]) + " "
            at = end
            continue
        if text in _QUALIFIERS or text == "__shared__":
            qualifiers.add(text)
        else:
            rest.append(tokens[at])
        at += 1
    return qualifiers, alignment, rest


def _pieces(tokens: Sequence[Token]) -> list[list[Token]]:
    """What commas outside of all brackets separate."""
    found: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in _OPEN) - (token.text in _CLOSE)
        depth -= 2 * (token.text == ">>>")
        if token.text == "," and depth == 0:
            found.append([])
        else:
            found[-1].append(token)
    return found


def _named(piece: Sequence[Token]) -> tuple[_Piece, str, _Piece] | None:
    """Type (empty of what isn't first), name and dimensions; None if it is written otherwise."""
    depth, name = 0, None
    for at, token in enumerate(piece):
        if token.text == "[" and depth == 0:
            break
        depth += (token.text in _OPEN) - (token.text in _CLOSE) - 2 * (token.text == ">>>")
        if depth == 0 and token.kind is Kind.NAME:
            name = at
    if name is None:
        return None
    kind, dimensions = piece[:name], piece[name + 1 :]
    if any(token.text in ("(", "*", "&") for token in (*kind[-1:], *dimensions[:1])):
        return None
    return [token.text for token in kind], piece[name].text, [token.text for token in dimensions]


def _static(rest: Sequence[Token], volatile: bool, alignment: str) -> str | None:
    parts = [_named(piece) for piece in _pieces(rest)]
    if parts[0] is None or not parts[0][0]:
        return None
    kind = " ".join((["volatile"] if volatile else []) + parts[0][0])
    made = []
    for part in parts:
        if part is None or (part is not parts[0] and part[0]):
            return None
        _, name, dimensions = part
        whole = f"{kind} {' '.join(dimensions)}".strip()
        made.append(
            f'{alignment}static ::cuda_on_cpu::Shared<{whole}> {name}_shared{{"{name}"}}; '
            f"auto &{name} = {name}_shared.value"
        )
    return "; ".join(made)


def _dynamic(rest: Sequence[Token], volatile: bool, alignment: str) -> str | None:
    del alignment  # that of the launch's memory is larger than any
    part = _named(rest)
    if part is None or part[2][:2] != ["[", "]"] or not part[0]:
        return None
    kind = " ".join((["volatile"] if volatile else []) + part[0])
    further = " ".join(part[2][2:])
    to = f"{kind} (*){further}" if further else f"{kind} *"
    declared = f"{kind} (*const {part[1]}){further}" if further else f"{kind} *const {part[1]}"
    return f"{declared} = reinterpret_cast<{to}>(::cuda_on_cpu::dynamic_shared)"
