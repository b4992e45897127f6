"""Makes C++ of CUDA and HIP: launches, shared memory and a few specifiers have no meaning there.

Everything else stays as it is, on the line where it is, so that compilers name the author's lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kernelbot.harness.inside.cuda_on_cpu.coverage import NotCovered, refuse_uncovered
from kernelbot.harness.inside.cuda_on_cpu.shared_memory import directives, flat, rewrite_shared
from kernelbot.harness.inside.cuda_on_cpu.tokens import SourceToken, SourceTokenKind, tokenize

_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_ENDS = frozenset(";{}")
"""A declaration is over, or its body begins."""
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
_MOST_SPECIFIERS, _LONGEST_BOUNDS = 64, 64
"""In tokens: how far a body is behind its kernel's bounds, so that all of it takes linear time, and
how long these are."""
_LAUNCH = "hipLaunchKernelGGL"
_KEYWORDS = frozenset({"else", "return", "do", "throw", "case", "and", "or", "not", "co_return"})
"""Names before a kernel's own that aren't a part of it."""


def rewrite(name: str, text: str, first_line: int = 1, *, hip: bool = False) -> str:
    """The same source as C++ for the headers of this package. `name`: of the author's file, where
    the text begins at `first_line`. `hip`: it is compiled as HIP.

    Raises `NotCovered` if it needs a GPU, or has a launch that can't be read.
    """
    tokens = tokenize(text, first_line)
    refuse_uncovered(name, tokens, hip=hip)
    return _Source(name, tokens).rewritten()


@dataclass(frozen=True)
class _LaunchSpan:
    """Where a launch is, by places among the significant tokens."""

    callee: int
    opening: int
    closing: int


class _Source:
    def __init__(self, name: str, tokens: list[SourceToken]) -> None:
        self._name = name
        self._all = tokens
        self._texts = [token.text for token in tokens]
        self._places = [
            i for i, token in enumerate(tokens) if token.kind is not SourceTokenKind.SPACE
        ]
        self._tokens = [tokens[i] for i in self._places]
        self._partners = _partners(self._tokens)

    def rewritten(self) -> str:
        plain = self._plain_kernels()
        for launch in self._launches():
            self._rewrite_launch(launch, plain)
        self._rewrite_named_launches(plain)
        self._rewrite_specifiers()
        self._rewrite_bounds()
        rewrite_shared(self._all, self._texts)
        return "".join(self._texts)

    def _text(self, at: int) -> str:
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""

    def _set(self, at: int, text: str) -> None:
        self._texts[self._places[at]] = text

    def _rewrite_specifiers(self) -> None:
        """A declaration says `inline` once, however often the author says it."""
        is_inline, runs_until = False, 0
        for at, token in enumerate(self._tokens):
            if token.text not in _SPECIFIERS:
                continue
            if at >= runs_until:
                runs_until = self._specifiers_end(at)
                is_inline = any(self._text(i) in _INLINE for i in range(at, runs_until))
            if token.text == "__forceinline__":
                self._set(at, "" if is_inline else "inline")
                is_inline = True
            elif token.text == "__noinline__" and self._text(at - 1) not in ("(", ","):
                self._set(at, "__attribute__((noinline))")

    def _rewrite_bounds(self) -> None:
        """A kernel whose blocks have at most so many threads expects that itself, at first."""
        numbers = directives(self._all)
        for at, token in enumerate(self._tokens):
            closing = self._partners[at + 1] if self._text(at + 1) == "(" else None
            if token.text != "__launch_bounds__" or closing is None:
                continue
            body = self._body(closing + 1)
            if closing - at > _LONGEST_BOUNDS or body is None:
                continue
            if numbers[self._places[body]] != numbers[self._places[at]]:
                continue
            if self._names(closing, body) & self._names(at + 2, closing):
                continue  # a parameter's name has another meaning within
            given = flat(self._all[self._places[at + 2] : self._places[closing]])
            self._set(body, f"{{ ::cuda_on_cpu::bounded({given});")

    def _body(self, at: int) -> int | None:
        """Where the body begins of the function of which a specifier ends before `at`."""
        for _ in range(_MOST_SPECIFIERS):
            text = self._text(at)
            if text == "{":
                return at
            if text in _ENDS or at >= len(self._tokens):
                break
            at = (self._partners[at] or at) + 1 if text in _OPEN else at + 1
        return None

    def _names(self, first: int, last: int) -> set[str]:
        return {
            self._text(i)
            for i in range(first, last)
            if self._tokens[i].kind is SourceTokenKind.NAME
        }

    def _specifiers_end(self, at: int) -> int:
        while self._text(at) in _SPECIFIERS:
            at += 1
        return at

    def _plain_kernels(self) -> frozenset[str]:
        """Kernels of which this source has one only, and no template: their parameters are known
        wherever they are launched."""
        seen: dict[str, int] = {}
        templates: set[str] = set()
        begun: list[str] = []
        is_template = False
        for at, token in enumerate(self._tokens):
            if token.text == "__global__" and (found := self._kernel_name(at)):
                begun.append(found)
                seen.setdefault(found, 0)
                if is_template:
                    templates.add(found)
            elif token.text in _ENDS:
                for name in begun if token.text == "{" else ():  # with `;` it is only declared
                    seen[name] += 1
                begun.clear()
            is_template = token.text not in _ENDS and (is_template or token.text == "template")
        return frozenset(name for name, count in seen.items() if count <= 1) - templates

    def _kernel_name(self, at: int) -> str:
        for i in range(at + 1, min(at + 40, len(self._tokens) - 1)):
            if self._text(i) == "__launch_bounds__" or self._text(i - 1) == "__launch_bounds__":
                continue
            if self._text(i) == "__global__" or self._text(i) in _ENDS:
                break
            if self._tokens[i].kind is SourceTokenKind.NAME and self._text(i + 1) == "(":
                return self._text(i)
        return ""

    def _launches(self) -> list[_LaunchSpan]:
        found = []
        for at in range(len(self._tokens)):
            if self._text(at) == "<<<":
                callee, closing = self._callee(at), self._config_end(at)
                if callee is None or closing is None:
                    raise NotCovered(
                        self._name,
                        f"{self._name}:{self._tokens[at].line}: this launch can't be read. Write "
                        "it as kernel<<<grid, block>>>(arguments).",
                    )
                found.append(_LaunchSpan(callee, at, closing))
        return found

    def _rewrite_launch(self, launch: _LaunchSpan, plain: frozenset[str]) -> None:
        is_plain = launch.callee == launch.opening - 1 and self._text(launch.callee) in plain
        if is_plain:
            before, after = "::cuda_on_cpu::launch(", ", "
        else:
            before = "::cuda_on_cpu::launch_any([=](auto... cuda_on_cpu_given) { "
            after = "(cuda_on_cpu_given...); }, "
        self._set(launch.callee, before + self._text(launch.callee))
        self._set(launch.opening, after)
        self._set(launch.closing, ")")

    def _rewrite_named_launches(self, plain: frozenset[str]) -> None:
        """HIP's launches by a macro, of kernels whose parameters are known."""
        for at, token in enumerate(self._tokens):
            if token.text == _LAUNCH and self._text(at + 2) in plain and self._text(at + 3) == ",":
                self._set(at, "CUDA_ON_CPU_LAUNCH_PLAIN")

    def _callee(self, opening: int) -> int | None:
        """Where the launched kernel's name begins, with its namespaces and template arguments. None
        if it has no name, or is an object's."""
        at = opening - 1
        if self._text(at) == ")":
            before = self._partners[at]
            if before is None or not self._is_name(before - 1):
                return before
            at = before - 1  # a macro, or a function that gives a kernel
        elif self._text(at) in (">", ">>>"):
            at = self._before_angles(at)
        if not self._is_name(at):
            return None
        while self._text(at - 1) == "::":
            before = at - 2
            if self._text(before) in (">", ">>>"):
                before = self._before_angles(before)
            if not self._is_name(before):
                at -= 1
                break
            at = before
        return None if self._text(at - 1) in (".", "->", "template") else at

    def _is_name(self, at: int) -> bool:
        """Whether a name is there, which a keyword of a statement isn't."""
        is_there = 0 <= at < len(self._tokens) and self._tokens[at].kind is SourceTokenKind.NAME
        return is_there and self._text(at) not in _KEYWORDS

    def _before_angles(self, at: int) -> int:
        """The place before the `<` that belongs to the `>` at `at`; -1 if there is none. No launch
        is passed, so all calls together take linear time."""
        depth = 0
        while at >= 0:
            text = self._text(at)
            if text in _CLOSE:
                opening = self._partners[at]
                if opening is None:
                    return -1
                at = opening
            elif text in _OPEN or text in (";", "<<<"):
                return -1
            depth += {">": 1, ">>>": 3, "<": -1}.get(text, 0)
            at -= 1
            if depth <= 0:
                return at
        return -1

    def _config_end(self, opening: int) -> int | None:
        """Where the `>>>` of the `<<<` at `opening` is, which the arguments follow. If three `<`
        behind names are open, it may end a template's arguments instead: then the last one counts
        before the statement's end."""
        angles, last = 0, None
        at = opening + 1
        while at < len(self._tokens):
            text = self._text(at)
            if text in _CLOSE or text in (";", "<<<"):
                break
            if text == ">>>" and self._text(at + 1) == "(":
                last = at
                if angles < 3:
                    break
            opens = text == "<" and self._is_name(at - 1)
            angles = max(0, angles + opens - {">": 1, ">>>": 3}.get(text, 0))
            closing = self._partners[at] if text in _OPEN else at
            if closing is None:
                break
            at = closing + 1
        return last


def _partners(tokens: Sequence[SourceToken]) -> list[int | None]:
    """For each bracket the place of the one that belongs to it; None if there is none."""
    found: list[int | None] = [None] * len(tokens)
    opened: list[int] = []
    for at, token in enumerate(tokens):
        if token.text in _OPEN:
            opened.append(at)
        elif token.text in _CLOSE and opened:
            opening = opened.pop()
            found[at], found[opening] = opening, at
    return found
