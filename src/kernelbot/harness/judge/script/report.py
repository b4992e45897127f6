"""What a problem's own script reports on its descriptor, read as hostile input.

Lines are `key: value`. If a key is reported twice, the first value counts and the key is noted,
since the submission shares the script's process and can write there too.
"""

import math
import re
from dataclasses import dataclass, field

from kernelbot.protocol import Case, CaseResult, Verdict, WorkloadResult

_KEY = re.compile(r"[\w.-]{1,200}")
_INDEXED = re.compile(r"(test|benchmark)\.(0|[1-9][0-9]{0,5})\.(\w+)")
"""Each number has only one form, so that one case can't be reported under several keys."""
_MAX_KEYS = 100_000
_MAX_DOUBLED = 100
_MAX_VALUE = 16 << 10
"""Maximum of characters of a value; a profile's report is unlimited here, and cut when stored."""
_MAX_FURTHER = 100
_MAX_FURTHER_VALUE = 1000
"""How many other keys a script may report for a workload, or for all, and how long their values."""
_STATISTICS = frozenset({"spec", "runs", "mean", "std", "err", "best", "worst", "status", "report"})
_Z95 = 1.96
"""Normal approximation: 95 % of a mean's distribution lie within 1.96 standard errors."""


@dataclass
class ScriptReport:
    """The pairs reported so far in one phase."""

    pairs: dict[str, str] = field(default_factory=dict)
    doubled: list[str] = field(default_factory=list)
    """Keys that were reported again, in order; only the first hundred."""
    _further: dict[str, dict[str, str]] = field(default_factory=dict)
    """By the workload's number; an empty text for keys of all workloads."""

    def take(self, line: str) -> tuple[str, str] | None:
        """Store one line's pair and return it; None for anything that isn't a new pair."""
        key, colon, value = line.partition(":")
        key = key.strip()
        if not colon or not _KEY.fullmatch(key) or len(self.pairs) >= _MAX_KEYS:
            return None
        if key in self.pairs:
            if len(self.doubled) < _MAX_DOUBLED and key not in self.doubled:
                self.doubled.append(key)
            return None
        value = value.strip()
        self.pairs[key] = value if key.endswith(".report") else value[:_MAX_VALUE]
        self._keep_further(key)
        return key, self.pairs[key]

    def _keep_further(self, key: str) -> None:
        """Grouped by workload here and not in `further_keys`, which is called for each workload."""
        parts = _INDEXED.fullmatch(key)
        if parts is None and key not in ("check", "benchmark-count"):
            whose, name = "", key
        elif parts and parts[1] == "benchmark" and parts[3] not in _STATISTICS:
            whose, name = parts[2], parts[3]
        else:
            return
        kept = self._further.setdefault(whose, {})
        if len(kept) < _MAX_FURTHER:
            kept[name] = self.pairs[key][:_MAX_FURTHER_VALUE]

    @property
    def passed(self) -> bool:
        """Whether the script said `check: pass`; nothing else counts as a pass."""
        return self.pairs.get("check") == "pass"

    @property
    def says_wrong(self) -> bool:
        """Whether any case is reported as failed."""
        return any(key.endswith(".status") and value == "fail" for key, value in self.pairs.items())

    def message(self, kind: str, index: int) -> str:
        """The script's message about one case."""
        prefix = f"{kind}.{index}"
        return self.pairs.get(f"{prefix}.error") or self.pairs.get(f"{prefix}.message") or ""

    def first_message(self) -> str:
        """The first complaint; empty if there is none."""
        for key, value in self.pairs.items():
            if key == "error" or key.endswith(".error"):
                return value
        return ""

    def further_keys(self, index: int) -> dict[str, str]:
        """The keys of a workload that the protocol doesn't know, and a note about doubled ones."""
        found = self._further.get("", {}) | self._further.get(str(index), {})
        if self.doubled:
            found["suspicious"] = "reported twice: " + ", ".join(self.doubled[:10])
        return found


def parse_key(key: str) -> tuple[str, int, str] | None:
    """What a key is about: `test` or `benchmark`, the number, and the field; None if neither."""
    parts = _INDEXED.fullmatch(key)
    return (parts[1], int(parts[2]), parts[3]) if parts else None


class ReportBroken(ValueError):
    """Reported figures that can't be true; the text is the evidence."""


def case_results(report: ScriptReport, cases: tuple[Case, ...]) -> tuple[CaseResult, ...]:
    """One result per test case. A case without a status ends the list as not reported."""
    results: list[CaseResult] = []
    for index, case in enumerate(cases):
        status = report.pairs.get(f"test.{index}.status")
        message = report.message("test", index)
        if status == "pass":
            results.append(CaseResult(case.spec, Verdict.ACCEPTED, message))
        elif status is not None:
            results.append(CaseResult(case.spec, Verdict.WRONG_ANSWER, message or "failed"))
        else:
            results.append(CaseResult(case.spec, Verdict.RUNTIME_ERROR, "no result was reported"))
            break
    return tuple(results)


def workload_results(report: ScriptReport, cases: tuple[Case, ...]) -> tuple[WorkloadResult, ...]:
    """The measurements reported, in order; a workload without a mean is left out.

    Raises `ReportBroken` if a figure isn't a positive, finite number of nanoseconds.
    """
    results = []
    for index, case in enumerate(cases):
        if f"benchmark.{index}.mean" in report.pairs:
            results.append(workload_result(report, index, case))
    return tuple(results)


def workload_result(report: ScriptReport, index: int, case: Case) -> WorkloadResult:
    """The measurement of a workload whose mean was reported. Raises `ReportBroken`."""
    mean_ns = _figure(report, index, "mean")
    assert mean_ns is not None
    error_ns = _figure(report, index, "err", may_be_zero=True) or 0.0
    best_ns = _figure(report, index, "best")
    worst_ns = _figure(report, index, "worst")
    return WorkloadResult(
        spec=case.spec,
        samples_ns=(),
        median_ns=mean_ns,
        mean_ns=mean_ns,
        stdev_ns=_figure(report, index, "std", may_be_zero=True) or 0.0,
        ci95_ns=(max(mean_ns - _Z95 * error_ns, 0.0), mean_ns + _Z95 * error_ns),
        best_ns=mean_ns if best_ns is None else best_ns,
        worst_ns=mean_ns if worst_ns is None else worst_ns,
        stopped_by="script",
        extra=report.further_keys(index),
    )


def _figure(
    report: ScriptReport, index: int, name: str, *, may_be_zero: bool = False
) -> float | None:
    key = f"benchmark.{index}.{name}"
    text = report.pairs.get(key)
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        raise ReportBroken(f"{key}: {text[:100]}") from None
    if name in ("std", "err") and math.isnan(value):
        return None  # the spread of a single sample
    if not math.isfinite(value) or value < 0 or (value == 0 and not may_be_zero):
        raise ReportBroken(f"{key}: {text[:100]}")
    return value
