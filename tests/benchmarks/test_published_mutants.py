from pathlib import Path

import yaml
from benchmarks.preflight import own_turn, run, with_tests
from benchmarks.published_mutants import Ending, _mutants, table

KERNEL = """
__global__ void add(float *a, int n) {
    int i = threadIdx.x;
    __syncthreads();
    if (i < n) a[i] = 1;
}
void host() { add<<<1, 1>>>(a, n); }
"""
TRITON = """
@triton.jit
def add(x, n):
    value = tl.load(x + n)

def custom_kernel(data):
    return data
"""


def ending(place: int, verdict: str, *, checked: bool) -> Ending:
    return Ending("a.py", "off by one", place, f"line {place}", checked, verdict, "")


def test_one_place_of_a_kernel_is_changed() -> None:
    made = [(str(kind), text.splitlines()[place - 1]) for kind, place, text in changed(KERNEL)]
    assert [
        ("off by one", "    if (i <= n) a[i] = 1;"),
        ("missing barrier", "    ;"),
        ("wrong index", "    if (i < n) a[i + 1] = 1;"),
    ] == made


def test_an_address_of_triton_is_one_too_large() -> None:
    made = [(str(kind), text.splitlines()[line - 1]) for kind, line, text in changed(TRITON)]
    assert [("wrong index", "    value = tl.load(x + n + 1)")] == made


def changed(text: str) -> list[tuple[object, int, str]]:
    """With the number of the line in place of the place."""
    return [(kind, text[:at].count("\n") + 1, new) for kind, at, new in _mutants(text)]


def test_each_file_and_kind_has_a_row() -> None:
    endings = [
        Ending("a.py", "", 0, "", checked=False, verdict="accepted", said=""),
        ending(1, "wrong_answer", checked=False),
        ending(1, "runtime_error", checked=True),
        ending(2, "accepted", checked=False),
        ending(2, "runtime_error", checked=True),
        ending(3, "accepted", checked=False),
        ending(3, "accepted", checked=True),
        ending(4, "compile_error", checked=False),
    ]
    assert ["not found: a.py: line 3", "| a.py | off by one | 3 | 1 | 2 |"] == list(table(endings))


def test_a_copy_has_only_the_first_tests(tmp_path: Path) -> None:
    task = tmp_path / "sets/one/task.yml"
    task.parent.mkdir(parents=True)
    task.write_text("lang: py\ntests:\n  - {n: 1}\n  - {n: 2}\n")
    with with_tests(tmp_path / "sets", 1) as copy:
        assert {"lang": "py", "tests": [{"n": 1}]} == yaml.safe_load(
            (copy / "one/task.yml").read_text()
        )
    assert (False, 2) == (copy.exists(), len(yaml.safe_load(task.read_text())["tests"]))


def test_a_problem_in_a_copy_finds_the_files_above_it(tmp_path: Path) -> None:
    problem = tmp_path / "sets/one"
    problem.mkdir(parents=True)
    (problem / "task.yml").write_text(
        "lang: py\nfiles:\n  - {name: utils.py, source: ../utils.py}\ntests:\n  - {n: 1}\n"
    )
    (tmp_path / "sets/utils.py").write_text("")
    (problem / "mine.py").write_text("")
    with own_turn(), with_tests(tmp_path / "sets", 1) as copy:
        ended = run(["run", str(copy / "one"), str(copy / "one/mine.py"), "--json"], 60.0)
    said = str(ended.document)
    assert (False, True) == ("leaves the checkout" in said, "description: missing" in said)
