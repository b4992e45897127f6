"""How many mistakes in a public set's published kernels a test on the device CPU finds.

    python -m benchmarks.published_mutants FOLDER --results FILE [--limit-s 300] [--only TEXT]
        [--tests COUNT]

FOLDER: a checkout of the problem sets. In each published file with kernels of CUDA, HIP or Triton
that is accepted there, one place of a kernel is changed, as `cuda_mutants` does: a comparison is
off by one, a barrier is left out, an index is one too large (in Triton: the address of a load or
store). Each mutant is tested as it is and, but for Triton's, with `--check`. What doesn't compile
is none, and neither is what reached the time limit. Each ending is appended to FILE, and what is
there isn't done again; the table, a row for each file and kind, is printed at the end. With
`--tests` only so many of a problem's tests are run, its first: for a file whose other tests are too
much for a processor. Such endings want a FILE of their own.
"""

import argparse
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.cuda_mutants import CHANGES, Kind
from benchmarks.preflight import own_turn, published, run, tested, with_tests

_COMPARED = CHANGES[0]
_ADDRESS = re.compile(r"tl\.(?:load|store)\((?:[^,()\[\]]|\[[^\]]*\])*(?=[,)])")
_NO_MUTANTS = ("compile_error", "time_limit", "no end", "refused")
_Row = tuple[str, str]
"""A file and what was changed."""


@dataclass(frozen=True)
class Ending:
    """How one test of a mutant ended; `line`: the changed one, empty for the file as it is."""

    file: str
    kind: str
    place: int
    """Where in the file's text the change is."""
    line: str
    checked: bool
    verdict: str
    said: str

    @property
    def key(self) -> tuple[str, str, int, bool]:
        """By what it is found again."""
        return self.file, self.kind, self.place, self.checked


def main() -> None:
    """Do what isn't done, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--limit-s", type=float, default=300.0, help="For each test.")
    parser.add_argument("--only", default="", help="Files whose path has this in it.")
    parser.add_argument("--tests", type=int, help="Only the first so many of a problem.")
    options = parser.parse_args()
    found = _stored(options.results)
    with own_turn(), with_tests(options.folder, options.tests) as folder:
        for problem, file in published(folder):
            name = str(file.relative_to(folder))
            if options.only in name and _kernels(file.read_text()):
                for one in _endings(name, problem, file.read_text(), found, options.limit_s):
                    found[one.key] = one
                    with options.results.open("a") as results:
                        results.write(json.dumps(asdict(one)) + "\n")
                    print(one, flush=True)
    print("\n".join(table(found.values())))


def _stored(results: Path) -> dict[tuple[str, str, int, bool], Ending]:
    if not results.exists():
        return {}
    endings = (Ending(**json.loads(line)) for line in results.read_text().splitlines())
    return {one.key: one for one in endings}


def _endings(
    name: str,
    problem: Path,
    text: str,
    found: dict[tuple[str, str, int, bool], Ending],
    limit_s: float,
) -> Iterator[Ending]:
    """Those that aren't there yet; none of a file that isn't accepted as it is."""
    checks = (False, True) if "__global__" in text else (False,)
    for checked in checks:
        key = (name, "", 0, checked)
        if key not in found:
            yield _tested(problem, text, Ending(name, "", 0, "", checked, "", ""), limit_s)
        if found[key].verdict != "accepted":
            return
    for kind, place, changed in _mutants(text):
        line = changed.splitlines()[text[:place].count("\n")].strip()
        for checked in checks:
            if (name, kind, place, checked) not in found:
                mutant = Ending(name, kind, place, line, checked, "", "")
                yield _tested(problem, changed, mutant, limit_s)


def _tested(problem: Path, text: str, one: Ending, limit_s: float) -> Ending:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "submission.py"
        file.write_text(text)
        words = ["run", str(problem), str(file), "--device", "CPU", "--json"]
        ended = run([*words, *(["--check"] if one.checked else [])], limit_s)
    how, text = tested(ended)
    verdict = ended.document.get("verdict") or how  # of what was never judged there is none
    said = text.strip().splitlines()
    return Ending(**{**asdict(one), "verdict": verdict, "said": said[-1] if said else ""})


def _kernels(text: str) -> list[tuple[int, int]]:
    """From where to where in the text each kernel is."""
    cuda = [
        (match.start(), _end_of_body(text, match.start()))
        for match in re.finditer(r"__global__\b", text)
    ]
    triton = [match.span() for match in re.finditer(r"@triton\.jit\n(?:.*\n)+?(?=\n*\S)", text)]
    return cuda + [(start, _end_of_block(text, start)) for start, _ in triton]


def _end_of_body(text: str, start: int) -> int:
    depth = 0
    for at in range(text.index("{", start), len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if not depth:
            return at
    return len(text)


def _end_of_block(text: str, start: int) -> int:
    """Before the next line that isn't indented, behind that of the function's name."""
    body = text.index("):\n", start)
    after = re.search(r"^\S", text[body + 3 :], re.MULTILINE)
    return len(text) if after is None else body + 3 + after.start()


def _mutants(text: str) -> Iterator[tuple[Kind, int, str]]:
    """What is changed, where, and the whole file with it."""
    for start, end in _kernels(text):
        is_triton = text.startswith("@triton", start)
        for kind, pattern, changes in (_COMPARED,) if is_triton else CHANGES:
            for match in pattern.finditer(text, start, end):
                changed = changes[match[1]]
                yield kind, match.start(), text[: match.start()] + changed + text[match.end() :]
        if is_triton:
            for match in _ADDRESS.finditer(text, start, end):
                yield (
                    Kind.WRONG_INDEX,
                    match.end(),
                    f"{text[: match.end()]} + 1{text[match.end() :]}",
                )


def table(endings: Iterable[Ending]) -> Iterator[str]:
    """Each mutant that nothing has found, and a row for each file and kind, with what was found by
    the answer, and with `--check` as well."""
    found = {one.key: one for one in endings}
    made, by_answer, by_check = Counter[_Row](), Counter[_Row](), Counter[_Row]()
    for one in found.values():
        if one.checked or not one.line:
            continue
        checked = found.get((one.file, one.kind, one.place, True), one)
        verdicts = {one.verdict, checked.verdict}
        if verdicts & set(_NO_MUTANTS):
            continue
        row = (one.file, one.kind)
        made[row] += 1
        by_answer[row] += one.verdict != "accepted"
        by_check[row] += verdicts != {"accepted"}
        if verdicts == {"accepted"}:
            yield f"not found: {one.file}: {one.line}"
    for row, count in made.items():
        file, kind = row
        yield f"| {file} | {kind} | {count} | {by_answer[row]} | {by_check[row]} |"


if __name__ == "__main__":
    main()
