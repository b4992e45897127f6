"""The report on a node, as it is shown and sent."""

import json
import sys
from pathlib import Path

import pytest

from kernelbot.domain.errors import PlatformError, UserError
from kernelbot.harness.host.vendor.finding import VendorFinding
from kernelbot.protocol import Vendor
from kernelbot.server.vendor_check import NodeReport, examine, write_report

FACTS = {"host": "a'; echo x", "time": "now", "os": "Linux", "cpu": "EPYC"}


def report(*findings: VendorFinding, ok: bool = True) -> NodeReport:
    document = {**FACTS, "processors": 2, "python": "3.11", "ok": ok, "findings": []}
    return NodeReport(ok, findings, document)


@pytest.mark.parametrize(
    ("ok", "needed", "sign"),
    [(True, True, "✓"), (False, True, "✗"), (False, False, "-"), (None, False, "-")],
)
def test_a_finding_in_a_sign(ok: bool | None, needed: bool, sign: str) -> None:
    assert sign == VendorFinding("driver", ok, needed, "").sign


def test_the_conclusion_names_what_is_needed() -> None:
    findings = [VendorFinding("driver", False, True, ""), VendorFinding("clocks", False, False, "")]
    assert "see driver." in report(*findings, ok=False).conclusion
    assert "can be judged" in report(findings[1]).conclusion


def harness(text: str) -> list[str]:
    """A command that says `text` and its arguments."""
    return [
        sys.executable,
        "-c",
        f"import sys; print({text!r}); print(sys.argv[1:], file=sys.stderr)",
    ]


@pytest.mark.parametrize("text", ["", "{}", "null", "[1]", '{"ok": true, "findings": [{}]}'])
def test_a_harness_that_reports_nothing_is_our_fault(text: str) -> None:
    with pytest.raises(PlatformError, match=r"without a report.*'--count', '8', '--gpu', 'amd'"):
        examine(Vendor.AMD, 8, command=harness(text))


def test_what_the_harness_reports_is_read() -> None:
    document = {"ok": False, "findings": [{"name": "a", "ok": None, "needed": False, "note": ""}]}
    found = examine(None, 1, command=harness(json.dumps(document)))
    assert (False, (VendorFinding("a", None, False, ""),), document) == (
        found.ok,
        found.findings,
        found.document,
    )


def test_the_report_is_two_files(tmp_path: Path) -> None:
    found = report(VendorFinding("driver", True, True, "580"))
    paths = write_report(found, tmp_path / "node7", "the table")
    assert ["node7.json", "node7.txt"] == [path.name for path in paths]
    assert found.document == json.loads(paths[0].read_text())
    assert "host: a'; echo x\n" in paths[1].read_text()
    assert paths[1].read_text().endswith("the table\nJobs can be judged on this node.\n")


def test_a_report_that_cannot_be_written_is_a_mistake_of_the_callers(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="can't be written"):
        write_report(report(), tmp_path / "missing" / "node7", "")
