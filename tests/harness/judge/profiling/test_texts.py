"""The tools' output was written beside untrusted code: no text of it may break anything."""

from hypothesis import given
from hypothesis import strategies as st

from kernelbot.harness.judge.profiling.nsight import TABLES, extract
from kernelbot.harness.judge.profiling.rocprof import summary

LINES = st.sampled_from(
    [
        "  k (1, 1, 1)x(1, 1, 1), Context 1, Stream 7, Device 0, CC 9.0",
        "    Table Name : GPU Throughput",
        "    Table Name : Memory Chart",
        "    Section: Occupancy",
        "    Achieved Occupancy   %   1.0",
        "    Table Description : words",
        "    Memory [%]   %   1.0",
        "",
        "\x1b[2J",
    ]
)
HEADER = '"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n'


@given(st.lists(LINES | st.text(max_size=40), max_size=40))
def test_of_any_report_only_the_tables_for_beginners_are_taken(lines: list[str]) -> None:
    shown = list(extract("\n".join(lines)))
    assert not any("Memory Chart" in line or "Table Description" in line for line in shown)
    assert len(shown) <= sum(len(line.splitlines()) or 1 for line in lines)


def test_tables_keep_their_order_and_end_with_an_empty_line() -> None:
    details = "".join(f"  Table Name : {name}\n  row 1\n\n  note\n" for name in TABLES)
    assert [line for name in TABLES for line in (f"  {name}", "  row 1", "")] == list(
        extract(details)
    )


@given(st.text(max_size=200))
def test_any_statistics_are_a_text(text: str) -> None:
    assert summary(text)
    assert summary(HEADER + text)


def test_the_longest_kernels_come_first_and_the_rest_is_counted() -> None:
    rows = "".join(f'"k{at}",1,{at * 1000},{at * 1000}.0,1.0\n' for at in range(25))
    shown = summary(HEADER + rows).splitlines()
    assert ["k24", "1", "24.00", "24.00", "1.0", "%"] == shown[3].split()
    assert "5 more in the file." == shown[-1]


def test_statistics_without_a_column_are_said_to_be_unreadable() -> None:
    assert "can't be read (KeyError" in summary('"Name","Calls"\n"k",1\n')


def test_an_empty_table_is_no_kernel() -> None:
    assert "No kernel ran on the GPU." == summary(HEADER)


def test_a_million_spaces_hold_nobody_up() -> None:
    spaces = " " * 1_000_000  # weighed one by one, they would take hours
    assert [] == list(extract(f"Table Name:{spaces}\n{spaces}x, Context {spaces}"))
