"""Which tests should notice a change, the quickest first."""

import ast
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from scripts.mutants.lines import Test, statement
from scripts.mutants.operators import Mutant

_LEAST_S = 0.02
"""What any test takes in a fork."""


class Choice:
    """Chooses among tests of which it was recorded what they execute."""

    def __init__(self, tree: Path, tests: dict[str, Test], limit_s: float) -> None:
        """Tests are chosen until they take `limit_s`, as recorded; and others, so much again."""
        self._tree = tree
        self._tests = {name: test for name, test in tests.items() if test.passed}
        self._limit_s = limit_s

    def executing(self, mutant: Mutant, files: Iterable[str]) -> tuple[str, ...]:
        """Those that execute the changed statement: first those in the files, then others."""
        source = ast.parse((self._tree / mutant.module).read_bytes())
        lines = statement(source, mutant.line)
        found = {name for line in lines for name in self._by_line[mutant.module, line]}
        return self._chosen(found, files)

    def reaching(self, mutant: Mutant, files: Iterable[str]) -> tuple[str, ...]:
        """For a change outside of functions: those in the files, and then those that execute
        anything of the module; without parameters, which may be what was changed."""
        files = set(files)
        near = {name for name in self._tests if name.partition("::")[0] in files}
        far = {name for name, test in self._tests.items() if mutant.module in test.lines}
        chosen = self._chosen(near | far, files)
        return tuple(dict.fromkeys(name.partition("[")[0] for name in chosen))

    def took_s(self, names: Iterable[str]) -> float:
        """How long these took when they were recorded; without parameters: all rows of one."""
        asked = set(names)
        found = (one for one in self._tests.items() if asked & {one[0], one[0].partition("[")[0]})
        return sum(test.took_s for _, test in found)

    def _chosen(self, names: set[str], files: Iterable[str]) -> tuple[str, ...]:
        near = {name for name in names if name.partition("::")[0] in set(files)}
        chosen = [*self._quickest(near), *self._quickest(names - near)]
        return tuple(chosen)

    def _quickest(self, names: Iterable[str]) -> list[str]:
        """As many as there is time for, and one at least."""
        left_s = self._limit_s
        chosen: list[str] = []
        for name in sorted(names, key=lambda name: (self._tests[name].took_s, name)):
            left_s -= self._tests[name].took_s + _LEAST_S
            if chosen and left_s < 0:
                break
            chosen.append(name)
        return chosen

    @cached_property
    def _by_line(self) -> dict[tuple[str, int], list[str]]:
        found: dict[tuple[str, int], list[str]] = defaultdict(list)
        for name, test in self._tests.items():
            for module, lines in test.lines.items():
                for line in lines:
                    found[module, line].append(name)
        return found
