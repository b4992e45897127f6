"""What a cell shows."""

from dataclasses import replace

from kernelbot.library import Baseline, Report
from kernelbot.notebook.report import CellReport, of_report
from kernelbot.protocol import Failure, Fault, RunResult, Verdict
from tests.render.results import ACCEPTED, WORKLOAD, WRONG

SOURCE = "import numpy as np\n\n\ndef custom_kernel(data):\n    return nq.sort(data)\n"
HOSTILE = "<script>alert(1)</script>\x1b[2J"


def shown(result: RunResult, baseline: Baseline | None = None, source: str = SOURCE) -> CellReport:
    return of_report(Report(result, 2, baseline), source, "submission.py")


def failed(message: str) -> RunResult:
    failure = Failure(Fault.AUTHOR, message)
    return replace(WRONG, verdict=Verdict.RUNTIME_ERROR, phases=(), compile=None, failure=failure)


def test_times_are_a_table_with_a_text_of_the_same() -> None:
    found = shown(ACCEPTED)
    html, text = found.html(), found.text()
    for figure in ("1.10 ms", WORKLOAD.spec):
        assert figure in html
        assert figure in text
    assert (1, 1) == (html.count("<table>"), html.count('<th scope="row">'))
    assert "The intervals are of this judging alone." in html


def test_the_plot_is_a_picture_with_its_figures_as_text() -> None:
    html = shown(ACCEPTED).html()
    assert '<img src="data:image/svg+xml;base64,' in html
    assert f'alt="{WORKLOAD.spec}: ' in html


def test_the_reference_stands_beside_the_times() -> None:
    slow = replace(WORKLOAD, median_ns=2 * WORKLOAD.median_ns, ci95_ns=(2e6, 2.4e6))
    baseline = Baseline("reference.py", 0.0022, (0.0021, 0.0023), (slow,))
    found = shown(ACCEPTED, baseline)
    assert "2.00 x faster" in found.html()
    assert "2.00 x faster" in found.text()
    assert "times as fast as the reference (reference.py)" in found.html()


def test_an_error_names_its_line_in_the_cell() -> None:
    message = (
        'Traceback (most recent call last):\n  File "submission.py", line 5, in custom_kernel\n'
        "    return nq.sort(data)\nNameError: name 'nq' is not defined"
    )
    found = shown(failed(message))
    expected = "line 6 of the cell (5 of the file): error: NameError: name 'nq' is not defined"
    assert f"{expected}\n        return nq.sort(data)" in found.text()
    assert "line 6 of the cell" in found.html()


def test_a_column_has_a_caret() -> None:
    message = "submission.py:5:12: error: no such name"
    assert "    return nq.sort(data)\n           ^" in shown(failed(message)).html()


def test_what_failed_the_same_way_is_said_once() -> None:
    case = WRONG.phases[0].cases[1]
    cases = tuple(replace(case, spec=f"size: {n}") for n in range(5))
    html = shown(replace(WRONG, phases=(replace(WRONG.phases[0], cases=cases),))).html()
    assert "size: 0, and 4 more in the same way" in html


def test_nothing_that_strangers_say_is_markup_or_moves_a_cursor() -> None:
    case = replace(WRONG.phases[0].cases[1], spec=HOSTILE, message=HOSTILE)
    result = replace(
        WRONG,
        problem=HOSTILE,
        stdout=HOSTILE,
        phases=(replace(WRONG.phases[0], cases=(case,)),),
        failure=Failure(Fault.AUTHOR, HOSTILE),
    )
    found = shown(result, source=f"{HOSTILE}\ndef custom_kernel(data): {HOSTILE}\n")
    assert ("<script" in found.html(), "\x1b" in found.html() + found.text()) == (False, False)
    timed = shown(
        replace(
            ACCEPTED,
            phases=(replace(ACCEPTED.phases[1], workloads=(replace(WORKLOAD, spec=HOSTILE),)),),
        )
    )
    assert "<script" not in timed.html()
