"""The figures of `ptxas --verbose` for each kernel, as a small table."""

import re

_ENTRY = re.compile(r"Compiling entry function '([^']+)' for '([^']+)'")
# Bounded and from the word's beginning: an author may make the compiler print a million digits.
_FIGURES = {
    "stack_bytes": re.compile(r"\b(\d{1,15}) bytes stack frame"),
    "spill_store_bytes": re.compile(r"\b(\d{1,15}) bytes spill stores"),
    "spill_load_bytes": re.compile(r"\b(\d{1,15}) bytes spill loads"),
    "registers": re.compile(r"Used (\d{1,15}) registers"),
    "shared_bytes": re.compile(r"\b(\d{1,15}) bytes smem"),
    "constant_bytes": re.compile(r"\b(\d{1,15}) bytes cmem\[0\]"),
    "barriers": re.compile(r"used (\d{1,15}) barriers"),
}
_MAX_KERNELS = 1000


def parse_kernels(output: str) -> tuple[dict[str, str], ...]:
    """One row per entry function, in the compiler's order; figures not named are left out.

    Rows hold `name` (mangled), `arch`, `registers`, and byte counts of stack, spills, shared and
    constant memory.
    """
    rows: list[dict[str, str]] = []
    for line in output.splitlines():
        entry = _ENTRY.search(line)
        if entry is not None:
            if len(rows) == _MAX_KERNELS:
                break
            rows.append({"name": entry[1], "arch": entry[2]})
        elif rows:
            for name, pattern in _FIGURES.items():
                figure = pattern.search(line)
                if figure is not None:
                    rows[-1].setdefault(name, figure[1])
    return tuple(rows)
