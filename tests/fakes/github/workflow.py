"""Reads a workflow's file, and executes its job as a self-hosted runner does."""

import functools
import io
import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.support.groups import signal_group

ROOT = Path(__file__).parents[3]
WORKFLOWS = ROOT / ".github" / "workflows"
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_INPUT = re.compile(r"(?:fromJSON\()?inputs\.(\w+)\)?")


@functools.cache
def read_workflow(name: str) -> dict[str, Any]:
    """The file, with `on` under that name: to YAML it is a truth."""
    document: dict[Any, Any] = yaml.safe_load((WORKFLOWS / name).read_text())
    return {**document, "on": document.get("on", document.get(True))}


def evaluate(text: str, inputs: Mapping[str, str]) -> str:
    """The text with its expressions replaced; only those of inputs are known."""

    def value(found: re.Match[str]) -> str:
        wanted = _INPUT.fullmatch(found[1])
        assert wanted is not None, f"the fake doesn't know {found[0]}"
        return inputs.get(wanted[1], "")

    return _EXPRESSION.sub(value, str(text))


@dataclass
class StepReport:
    """What GitHub shows of a step."""

    name: str
    conclusion: str | None = None


@dataclass
class JobRun:
    """One execution of a workflow's only job."""

    workflow: dict[str, Any]
    inputs: dict[str, str]
    workspace: Path
    environment: dict[str, str]
    minute_s: float
    upload: Callable[[str, bytes], bool]
    """False: GitHub doesn't take it."""
    steps: list[StepReport] = field(default_factory=list)
    cancelled: bool = False
    lost: bool = False
    _process: subprocess.Popen[bytes] | None = None

    def execute(self) -> str:
        """Its conclusion."""
        (job,) = self.workflow["jobs"].values()
        event = self.workspace.parent / "_temp" / "_github_workflow" / "event.json"
        event.parent.mkdir(parents=True, exist_ok=True)
        event.write_text(json.dumps({"inputs": self.inputs, "ref": "refs/heads/main"}))
        limit_s = float(evaluate(job["timeout-minutes"], self.inputs)) * self.minute_s
        self.steps = [StepReport(step["name"]) for step in job["steps"]]
        conclusion = "success"
        for step, report in zip(job["steps"], self.steps, strict=True):
            if not self._wanted(step, conclusion):
                report.conclusion = "skipped"
                continue
            report.conclusion = self._step(step, event, limit_s)
            if self.lost:
                report.conclusion = None
                return "failure"
            if self.cancelled:
                return "cancelled"
            if report.conclusion != "success" and conclusion == "success":
                conclusion = report.conclusion
        return conclusion

    def interrupt(self, *, lose: bool = False) -> None:
        """Stop it, as somebody asked for, or as the machine is gone."""
        self.cancelled, self.lost = not lose, lose
        if self._process is not None:
            signal_group(self._process, signal.SIGKILL if lose else signal.SIGINT)

    def _wanted(self, step: dict[str, Any], conclusion: str) -> bool:
        if step.get("if") == "${{ !cancelled() }}":
            return not self.cancelled
        assert "if" not in step, "the fake doesn't know this condition"
        return conclusion == "success"

    def _step(self, step: dict[str, Any], event: Path, limit_s: float) -> str:
        if "run" in step:
            return self._run(step, event, limit_s)
        action, _, commit = step["uses"].partition("@")
        assert re.fullmatch(r"[0-9a-f]{40}", commit), "actions are pinned by their commits"
        if action == "actions/checkout":
            self._check_out(step["with"]["sparse-checkout"].split())
        elif action == "actions/upload-artifact":
            return self._upload(step["with"])
        else:
            raise AssertionError(f"the fake doesn't know {action}")
        return "success"

    def _check_out(self, folders: list[str]) -> None:
        self.workspace.mkdir(parents=True, exist_ok=True)
        for folder in folders:
            link = self.workspace / folder
            link.parent.mkdir(parents=True, exist_ok=True)
            if not link.exists():
                link.symlink_to(ROOT / folder)

    def _run(self, step: dict[str, Any], event: Path, limit_s: float) -> str:
        script = event.parent.parent / "step.sh"
        script.write_text(step["run"])
        tools = self.workspace.parents[1] / "_tool"
        given = {name: evaluate(text, self.inputs) for name, text in step.get("env", {}).items()}
        python = Path(sys.executable).parent
        with (self.workspace.parent / "log").open("ab") as log:
            self._process = subprocess.Popen(
                # SIGINT cancels, also if the tests' own shell shields what it starts from it.
                ["env", "--default-signal=INT", "bash", "-e", str(script)],
                cwd=self.workspace,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={
                    "PATH": f"{python}:{os.environ['PATH']}",
                    "HOME": str(self.workspace.parent),
                    "GITHUB_ACTIONS": "true",
                    "GITHUB_EVENT_PATH": str(event),
                    "GITHUB_WORKSPACE": str(self.workspace),
                    "RUNNER_TOOL_CACHE": str(tools),
                    **self.environment,
                    **given,
                },
            )
            if self.cancelled or self.lost:
                self.interrupt(lose=self.lost)
            try:
                code = self._process.wait(limit_s)
            except subprocess.TimeoutExpired:
                signal_group(self._process, signal.SIGKILL)
                self._process.wait()
                self.cancelled = True  # so GitHub calls it, also if nobody asked for it
                return "cancelled"
        return "success" if code == 0 else "failure"

    def _upload(self, options: dict[str, Any]) -> str:
        path = self.workspace / options["path"]
        if not path.exists():
            assert options["if-no-files-found"] == "ignore"
            return "success"
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.write(path, path.name)
        return "success" if self.upload(options["name"], content.getvalue()) else "failure"
