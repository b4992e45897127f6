"""A report's text becomes limits and tables as far as its form is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.harness.judge.profiling.counters import EventCount
from kernelbot.harness.judge.profiling.counting import table
from kernelbot.harness.judge.profiling.nsight import extract
from kernelbot.harness.judge.profiling.rocprof import summary
from kernelbot.schemas.values import to_json
from kernelbot.submissions.profiles.model import ReachedLimit, ReadProfile, ReportSection, Table
from kernelbot.submissions.profiles.report_text import read_report
from tests.support.profiled import HOSTILE_REPORTS

DETAILS = """
  void k<64, 128>(const float *, int) (112, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 9.0
    Section: GPU Speed Of Light Throughput
    ----------------------- ----------- ------------
    Metric Name             Metric Unit Metric Value
    Memory Throughput         Tbyte/s         1.90
    ----------------------- ----------- ------------
    Table Name : GPU Throughput
    Table Description : words
    ----------------------- ----------- ------------
    Memory [%]                        %        86.36
    Compute (SM) [%]                  %         7.12

    Section: Occupancy
    Metric Name             Metric Unit Metric Value
    Block Limit SM                block           16
    Theoretical Occupancy             %           50
    Achieved Occupancy                %        48.25
"""
LINES = st.sampled_from(
    [
        "== Nsight Compute ==",
        "== Counters, per call ==",
        "== rocprofv3 ==",
        "k, Context 1, Stream 7",
        "  Occupancy",
        "  Achieved Occupancy  %  nan",
        "  Memory [%]  %  1e999",
        "  a  b  c  d  e",
        "  ----- ----",
        "",
    ]
)


def nsight(details: str) -> str:
    return "== Nsight Compute ==\n" + "\n".join(extract(details))


def test_a_gpu_kernel_has_its_three_limits_first_and_its_tables() -> None:
    (kernel,), _ = read_report(nsight(DETAILS))
    assert "void k<64, 128>(const float *, int) (112, 1, 1)x(256, 1, 1)" == kernel.name
    assert (
        ReachedLimit("Compute", 7.12),
        ReachedLimit("Memory", 86.36),
        ReachedLimit("Occupancy", 48.25, "of 50 % possible"),
    ) == kernel.limits
    assert ["GPU Throughput", "Occupancy"] == [one.title for one in kernel.tables]
    assert ("Memory [%]", "86.36", "%") == kernel.tables[0].table.rows[0]


def test_the_names_of_the_other_form_and_figures_in_bytes_are_known() -> None:
    text = (
        "== Nsight Compute ==\nk, Context 1, Stream 7\n  Speed\n"
        "  Memory Throughput  Tbyte/s  1.90\n  Memory Throughput  %  41\n"
        "  Compute (SM) Throughput  %  1,012\n"
    )
    (kernel,), _ = read_report(text)
    assert (ReachedLimit("Compute", 100), ReachedLimit("Memory", 41)) == kernel.limits


def test_counters_are_a_table_with_what_is_said_of_them() -> None:
    counts = {"cycles": EventCount(2e6, 1.0), "instructions": EventCount(3e6, 0.5)}
    text = table(counts, {"branches": "why not"}, 7, user_only=True)
    _, (section,) = read_report(f"== Counters, per call ==\n{text}")
    assert (
        Table(
            ("Counter", "Per call", "That is"),
            (
                ("cycles", "2,000,000", ""),
                ("instructions", "3,000,000", "1.50 per cycle (counted 50 % of the time)"),
            ),
        )
        == section.table
    )
    assert [
        "The mean of 7 calls in a row on the same data, so with warm caches.",
        "Without what the system did for the submission: that may not be counted.",
        "Not counted: branches (why not).",
    ] == list(section.sentences)


def test_a_last_column_without_a_cell_is_none() -> None:
    counts = {"page-faults": EventCount(7.0, 1.0)}
    text = table(counts, {}, 7, user_only=False)
    _, (section,) = read_report(f"== Counters, per call ==\n{text}")
    assert section.table is not None
    assert (("Counter", "Per call"), 2) == (section.table.headers, len(section.table.rows[0]))


def test_counters_that_are_all_missing_are_sentences() -> None:
    _, (section,) = read_report("== Counters, per call ==\nThe mean.\nNot counted: all (why).\n")
    assert ReportSection("Counters, per call", ("The mean.", "Not counted: all (why).")) == section


def test_kernels_on_an_amd_gpu_are_a_table() -> None:
    header = '"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n'
    _, (section,) = read_report(f"== rocprofv3 ==\n{summary(header + 'gemm,2,6000,3000,60.0')}")
    assert (
        Table(
            ("kernel", "calls", "total us", "mean us", "share"),
            (("gemm", "2", "6.00", "3.00", "60.0 %"),),
        )
        == section.table
    )


def test_what_says_why_nothing_was_found_and_all_others_stay_text() -> None:
    text = "== Nsight Compute ==\nIt left no report: x\n\n== Framework's profiler ==\na  b\n  c"
    assert (
        (),
        (
            ReportSection("Nsight Compute", text="It left no report: x"),
            ReportSection("Framework's profiler", text="a  b\n  c"),
        ),
    ) == read_report(text)


def test_a_report_of_a_script_has_no_title() -> None:
    assert ((), (ReportSection("", text="free words"),)) == read_report("free words\n")


def test_an_empty_report_has_nothing() -> None:
    assert ((), ()) == read_report("\n")


@given(st.lists(LINES | st.text(max_size=40), max_size=60))
def test_any_lines_are_shown_somehow(lines: list[str]) -> None:
    kernels, sections = read_report("\n".join(lines))
    tables = [one.table for kernel in kernels for one in kernel.tables]
    tables += [section.table for section in sections if section.table]
    assert all(len(row) == len(one.headers) for one in tables for row in one.rows)
    assert all(0 <= limit.percent <= 100 for kernel in kernels for limit in kernel.limits)


def test_a_long_line_holds_nobody_up() -> None:
    spaces = " " * 250_000
    rows = f"  t\n  a{spaces}b\n{spaces}, Context {spaces}"
    text = f"== Nsight Compute ==\nk, Context 1, Stream 7\n{rows}"
    (kernel,), _ = read_report(text)
    assert () == kernel.limits


def test_of_many_kernels_the_first_are_shown() -> None:
    text = "== Nsight Compute ==\n" + "k, Context 1, Stream 7\n" * 1000
    kernels, _ = read_report(text)
    assert 20 == len(kernels)


def test_columns_beyond_the_twelfth_are_in_the_last_cell() -> None:
    columns = "  ".join(f"h{number}" for number in range(30))
    _, (section,) = read_report(f"== rocprofv3 ==\n{columns}\na  b\n")
    assert section.table is not None
    assert (12, "h11  h12") == (len(section.table.headers), section.table.headers[-1][:8])
    assert ("a", "b", *[""] * 10) == section.table.rows[0]


def test_rows_and_sentences_beyond_the_limits_stay_text() -> None:
    lines = [f"a{number}  b" for number in range(300)] + [f"s{number}." for number in range(300)]
    _, (section,) = read_report("== Counters, per call ==\n" + "\n".join(lines))
    assert section.table is not None
    assert (200, 200) == (len(section.table.rows), len(section.sentences))
    assert lines[200:300] + lines[500:] == section.text.split("\n")


def test_tables_of_a_kernel_beyond_the_fiftieth_stay_text() -> None:
    tables = "".join(f"  t{number}\n  a  b\n" for number in range(60))
    (kernel,), (section,) = read_report(f"== Nsight Compute ==\nk, Context 1, Stream 7\n{tables}")
    assert (50, "k\nt50\na  b\nt51") == (len(kernel.tables), section.text[:14])


@pytest.mark.parametrize("name", HOSTILE_REPORTS)
def test_what_is_shown_of_any_report_is_bounded(name: str) -> None:
    kernels, sections = read_report(HOSTILE_REPORTS[name])
    shown = ReadProfile(kernels, (), sections, "")
    tables = [one.table for kernel in shown.kernels for one in kernel.tables]
    tables += [one.table for one in shown.sections if one.table]
    assert sum(len(one.headers) * (1 + len(one.rows)) for one in tables) <= 2_000
    assert sum(len(one.sentences) for one in shown.sections) <= 200
    assert len(to_json(ReadProfile, shown)) < 250_000
