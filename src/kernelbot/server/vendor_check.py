"""`kernelbot vendor check`: the harness examines the node it would judge on."""

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelbot.domain.errors import PlatformError, UserError
from kernelbot.harness.host.vendor.finding import VendorFinding
from kernelbot.protocol import Vendor
from kernelbot.protocol.environment import passed_on
from kernelbot.server.judge_once import HARNESS

_TIMEOUT_S = 600.0


@dataclass(frozen=True)
class NodeReport:
    """All that was found. `document` is the harness's own, to be sent on as it is."""

    ok: bool
    findings: tuple[VendorFinding, ...]
    document: dict[str, Any]

    @property
    def conclusion(self) -> str:
        missing = [finding.name for finding in self.findings if finding.needed and not finding.ok]
        if not missing:
            return "Jobs can be judged on this node."
        return f"This node isn't fit for jobs yet: see {', '.join(missing)}."


def examine(
    gpu: Vendor | None, count: int, *, leave_clocks: bool = False, command: Sequence[str] = HARNESS
) -> NodeReport:
    """Examine this node, as the account that runs this. `gpu`: whose must be here; None: whichever
    is. `count`: how many one job gets. Raises `PlatformError` if there is no report."""
    options = ["vendor-check", "--count", str(count)]
    options += ["--gpu", gpu.value] if gpu else []
    options += ["--leave-clocks"] if leave_clocks else []
    try:
        done = subprocess.run(
            [*command, *options],
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
            env=passed_on(os.environ),
        )
    except subprocess.TimeoutExpired:
        raise PlatformError(f"The check wasn't done after {_TIMEOUT_S:.0f} s.") from None
    try:
        document = json.loads(done.stdout)
        findings = tuple(VendorFinding(**finding) for finding in document["findings"])
    except (ValueError, TypeError, KeyError):
        last_words = done.stderr.decode("utf-8", "replace").strip()[-500:]
        raise PlatformError(f"The check ended without a report. {last_words}".strip()) from None
    return NodeReport(document["ok"], findings, document)


def write_report(report: NodeReport, stem: Path, text: str) -> list[Path]:
    """`stem` with `.json` and `.txt`; the paths. Raises `UserError` if they can't be written."""
    facts = ("host", "time", "os", "cpu", "processors", "python")
    heads = "\n".join(f"{name}: {report.document[name]}" for name in facts)
    contents = {
        ".json": json.dumps(report.document, indent=2) + "\n",
        ".txt": f"{heads}\n\n{text}\n{report.conclusion}\n",
    }
    paths = []
    for suffix, content in contents.items():
        path = stem.with_name(stem.name + suffix)
        try:
            path.write_text(content)
        except OSError as error:
            raise UserError(f"{path} can't be written: {error.strerror}.") from None
        paths.append(path)
    return paths
