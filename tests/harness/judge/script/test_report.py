import pytest

from kernelbot.harness.judge.script.report import (
    ReportBroken,
    ScriptReport,
    case_results,
    parse_key,
    workload_results,
)
from kernelbot.protocol import Case, Verdict

_CASES = (Case({"size": 1}), Case({"size": 2}))


def _report(*lines: str) -> ScriptReport:
    report = ScriptReport()
    for line in lines:
        report.take(line)
    return report


def test_the_first_value_of_a_key_stays_and_the_doubling_is_noted() -> None:
    report = _report("check: fail", "check: pass", "check: pass")
    assert (False, ["check"]) == (report.passed, report.doubled)


@pytest.mark.parametrize("line", ["", "no colon", ": value", "a b: c", "x" * 300 + ": c"])
def test_lines_of_another_form_are_left_out(line: str) -> None:
    assert {} == _report(line).pairs


def test_values_keep_their_colons() -> None:
    assert {"error": "a: b"} == _report("error: a: b").pairs


def test_a_case_without_a_status_ends_the_list() -> None:
    results = case_results(_report("test.1.status: pass"), _CASES)
    assert [Verdict.RUNTIME_ERROR] == [result.verdict for result in results]


def test_the_message_of_a_failed_case_is_kept() -> None:
    results = case_results(
        _report("test.0.status: pass", "test.1.status: fail", "test.1.error: off by one"), _CASES
    )
    assert [(Verdict.ACCEPTED, ""), (Verdict.WRONG_ANSWER, "off by one")] == [
        (result.verdict, result.message) for result in results
    ]


def test_figures_become_a_measurement() -> None:
    (result,) = workload_results(
        _report(
            "benchmark.0.runs: 3",
            "benchmark.0.mean: 2000.0",
            "benchmark.0.err: 100",
            "benchmark.0.best: 1500",
            "benchmark.0.speedup: 1.5",
            "hint: warm",
        ),
        _CASES,
    )
    assert (2000.0, (1804.0, 2196.0), 1500.0, 2000.0, "script") == (
        result.median_ns,
        result.ci95_ns,
        result.best_ns,
        result.worst_ns,
        result.stopped_by,
    )
    assert {"speedup": "1.5", "hint": "warm"} == result.extra


@pytest.mark.parametrize("mean", ["0", "-1", "nan", "inf", "fast", "1e999", ""])
def test_impossible_times_are_refused(mean: str) -> None:
    with pytest.raises(ReportBroken, match=r"benchmark\.0\.mean"):
        workload_results(_report(f"benchmark.0.mean: {mean}"), _CASES)


def test_the_spread_of_a_single_sample_may_be_nan() -> None:
    (result,) = workload_results(
        _report("benchmark.0.mean: 5", "benchmark.0.std: nan", "benchmark.0.err: nan"), _CASES
    )
    assert (0.0, (5.0, 5.0)) == (result.stdev_ns, result.ci95_ns)


def test_endless_keys_are_capped() -> None:
    report = ScriptReport()
    for number in range(100_010):
        report.take(f"k{number}: v")
    assert 100_000 == len(report.pairs)


def test_a_message_is_cut() -> None:
    assert 16 << 10 == len(_report("test.0.error: " + "x" * (1 << 20)).message("test", 0))


def test_a_profile_is_not_cut() -> None:
    report = _report("benchmark.0.report: " + "x" * (1 << 20))
    assert 1 << 20 == len(report.pairs["benchmark.0.report"])


def test_only_the_first_hundred_doubled_keys_are_noted() -> None:
    lines = [f"k{number}: 1" for number in range(200)]
    assert [f"k{number}" for number in range(100)] == _report(*lines, *lines).doubled


def test_of_its_own_keys_a_script_has_a_hundred_for_each_workload_and_for_all() -> None:
    own = [f"benchmark.0.a{number}: {'x' * 2000}" for number in range(200)]
    common = [f"b{number}: 1" for number in range(200)]
    (result,) = workload_results(_report(*own, *common, "benchmark.0.mean: 5"), _CASES)
    assert (200, 1000) == (len(result.extra), max(map(len, result.extra.values())))


@pytest.mark.parametrize("number", ["00", "\u0660", "+0", "1000000", ""])
def test_a_case_has_one_number(number: str) -> None:
    assert None is parse_key(f"test.{number}.status")


def test_a_key_says_what_it_tells_of() -> None:
    assert ("benchmark", 10, "mean") == parse_key("benchmark.10.mean")
