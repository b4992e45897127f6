"""Makes C++ of CUDA C++: launches, shared memory and a few specifiers have no meaning there.

Everything else stays as it is, on the line where it is, so that compilers name the author's lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kernelbot.harness.inside.cuda_on_cpu.coverage import NotCovered, refuse_uncovered
from kernelbot.harness.inside.cuda_on_cpu.shared_memory import rewrite_shared
from kernelbot.harness.inside.cuda_on_cpu.tokens import Kind, Token, tokenize

_OPEN = {"(": ")", "[": "]", "{": "}"}
_CLOSE = {closing: opening for opening, closing in _OPEN.items()}
_SPECIFIERS = frozenset(
    [
        "static",
        "inline",
        "__inline__",
        "__inline",
        "constexpr",
        "extern",
        "__device__",
        "__host__",
        "__global__",
        "__forceinline__",
        "__noinline__",
    ]
)
_INLINE = frozenset({"inline", "__inline__", "__inline"})


def rewrite(name: str, text: str) -> str:
    """The same source as C++ for the headers of this package. `name`: of the author's file.

    Raises `NotCovered` if it needs a GPU, or has a launch that can't be read.
    """
    tokens = tokenize(text)
    refuse_uncovered(name, tokens)
    return _Source(name, tokens).rewritten()


@dataclass(frozen=True)
class _Launch:
    """Where a launch is, by places among the significant tokens."""

    callee: int
    opening: int
    closing: int


class _Source:
    def __init__(self, name: str, tokens: list[Token]) -> None:
        self._name = name
        self._texts = [token.text for token in tokens]
        self._places = [i for i, token in enumerate(tokens) if token.kind is not Kind.SPACE]
        self._tokens = [tokens[i] for i in self._places]

    def rewritten(self) -> str:
        plain = self._plain_kernels()
        for launch in self._launches():
            self._rewrite_launch(launch, plain)
        for at, token in enumerate(self._tokens):
            if token.text == "__forceinline__":
                self._set(at, "" if self._is_inline(at) else "inline")
            elif token.text == "__noinline__" and self._text(at - 1) not in ("(", ","):
                self._set(at, "__attribute__((noinline))")
        rewrite_shared(self._tokens, self._set)
        return "".join(self._texts)

    def _text(self, at: int) -> str:
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""

    def _set(self, at: int, text: str) -> None:
        self._texts[self._places[at]] = text

    def _is_inline(self, at: int) -> bool:
        """Whether the declaration says `inline` beside its `__forceinline__`."""
        first = last = at
        while self._text(first - 1) in _SPECIFIERS:
            first -= 1
        while self._text(last + 1) in _SPECIFIERS:
            last += 1
        others = [self._text(i) for i in range(first, last + 1) if i != at]
        return bool(_INLINE.intersection(others)) or "__forceinline__" in others[: at - first]

    def _plain_kernels(self) -> frozenset[str]:
        """Kernels of which this source has one only, and no template: their parameters are known
        wherever they are launched."""
        seen: dict[str, int] = {}
        templates: set[str] = set()
        for at, token in enumerate(self._tokens):
            if token.text == "__global__" and (found := self._kernel_name(at)):
                seen[found] = seen.get(found, 0) + (not self._is_declaration_again(at))
                if self._is_template(at):
                    templates.add(found)
        return frozenset(name for name, count in seen.items() if count <= 1) - templates

    def _kernel_name(self, at: int) -> str:
        for i in range(at + 1, min(at + 40, len(self._tokens) - 1)):
            if self._text(i) == "__launch_bounds__" or self._text(i - 1) == "__launch_bounds__":
                continue
            if self._tokens[i].kind is Kind.NAME and self._text(i + 1) == "(":
                return self._text(i)
        return ""

    def _is_declaration_again(self, at: int) -> bool:
        """Whether the kernel is only declared here."""
        for i in range(at, len(self._tokens)):
            if self._text(i) in (";", "{"):
                return self._text(i) == ";"
        return True

    def _is_template(self, at: int) -> bool:
        while at > 0 and self._text(at - 1) not in (";", "}", "{"):
            at -= 1
            if self._text(at) == "template":
                return True
        return False

    def _launches(self) -> list[_Launch]:
        found = []
        for at in range(len(self._tokens)):
            if self._text(at) == "<<<":
                callee, closing = self._callee(at), self._config_end(at)
                if callee is None or closing is None:
                    raise NotCovered(
                        f"{self._name}:{self._tokens[at].line}: this launch can't be read. Write "
                        "it as kernel<<<grid, block>>>(arguments)."
                    )
                found.append(_Launch(callee, at, closing))
        return found

    def _rewrite_launch(self, launch: _Launch, plain: frozenset[str]) -> None:
        is_plain = launch.callee == launch.opening - 1 and self._text(launch.callee) in plain
        if is_plain:
            before, after = "::cuda_on_cpu::launch(", ", "
        else:
            before = "::cuda_on_cpu::launch_any([=](auto... cuda_on_cpu_given) { "
            after = "(cuda_on_cpu_given...); }, "
        self._set(launch.callee, before + self._text(launch.callee))
        self._set(launch.opening, after)
        self._set(launch.closing, ")")

    def _callee(self, opening: int) -> int | None:
        """Where the launched kernel's name begins, with its namespaces and template arguments."""
        at = opening - 1
        if self._text(at) in (">", ">>>"):
            at = self._before_angles(at)
        elif self._text(at) == ")":
            return _before_brackets(self._tokens, at)
        if not self._is_name(at):
            return None
        while self._text(at - 1) == "::":
            at -= 1
            if self._text(at - 1) == ">":
                before = self._before_angles(at - 1)
                at = before if self._is_name(before) else at
            elif self._is_name(at - 1):
                at -= 1
        return at

    def _is_name(self, at: int) -> bool:
        return 0 <= at < len(self._tokens) and self._tokens[at].kind is Kind.NAME

    def _before_angles(self, at: int) -> int:
        """The place before the `<` that belongs to the `>` at `at`; -1 if there is none."""
        depth = 0
        while at >= 0:
            text = self._text(at)
            if text in _CLOSE:
                found = _before_brackets(self._tokens, at)
                at = -1 if found is None else found
            elif text in (";", "{"):
                return -1
            depth += {">": 1, ">>>": 3, "<": -1}.get(text, 0)
            at -= 1
            if depth <= 0:
                return at
        return -1

    def _config_end(self, opening: int) -> int | None:
        """Where the `>>>` of the `<<<` at `opening` is, which the arguments follow."""
        depth = 0
        for at in range(opening + 1, len(self._tokens)):
            text = self._text(at)
            depth += (text in _OPEN) - (text in _CLOSE)
            if depth < 0 or (depth == 0 and text == ";"):
                return None
            if depth == 0 and text == ">>>" and self._text(at + 1) == "(":
                return at
        return None


def _before_brackets(tokens: Sequence[Token], at: int) -> int | None:
    """The place of the bracket that the one at `at` closes; None if there is none."""
    depth = 0
    while at >= 0:
        depth += (tokens[at].text in _CLOSE) - (tokens[at].text in _OPEN)
        if depth == 0:
            return at
        at -= 1
    return None
