"""Runs and runners: what GitHub does with a dispatch."""

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fakes.github.workflow import JobRun, evaluate, read_workflow


@dataclass
class FakeArtifact:
    """A zip that a run has uploaded."""

    number: int
    name: str
    content: bytes
    expired: bool = False


@dataclass
class FakeRun:
    """One dispatch."""

    number: int
    file: str
    inputs: dict[str, str]
    title: str
    label: str
    shown_at: float
    named_at: float = 0.0
    """When it has the title that its inputs give it: until then it is called as its workflow."""
    status: str = "queued"
    told_status: str | None = None
    """What is told instead of its status until it ends."""
    conclusion: str | None = None
    job: JobRun | None = None
    runner: str = ""
    artifacts: list[FakeArtifact] = field(default_factory=list)
    ended_at: float = 0.0
    """By `time.monotonic`."""

    def shown(self, workflow: str) -> dict[str, Any]:
        """As the API tells it, and much that nobody reads."""
        over = self.status == "completed"
        ways = ("jobs", "logs", "check_suite", "artifacts", "cancel", "rerun", "workflow", "html")
        repository = {"id": 1, "full_name": "lab/kernels", "private": True}
        return {
            **{f"{way}_url": f"https://api.evil.example/{way}" for way in ways},
            "url": "https://api.evil.example/run",
            "id": self.number,
            "node_id": "WFR_1",
            "name": workflow,
            "path": f".github/workflows/{self.file}@main",
            "display_title": self.title if self.named_at <= time.monotonic() else workflow,
            "event": "workflow_dispatch",
            "status": self.status if over else (self.told_status or self.status) or None,
            "conclusion": self.conclusion,
            "run_attempt": 1,
            "run_number": self.number % 1000,
            "workflow_id": 1,
            "head_branch": "main",
            "head_sha": "0" * 40,
            "head_commit": None,
            "pull_requests": [],
            "created_at": "2026-11-01T10:00:00Z",
            "updated_at": "2026-11-01T10:00:00Z",
            "repository": repository,
            "head_repository": repository,
        }


@dataclass
class FakeActions:
    """The runs of a repository, and its runners: threads, each in a folder of its own."""

    folder: Path
    label: str = "cpu-runner"
    runners: int = 2
    late_s: float = 0.0
    """How long a new run isn't shown."""
    named_late_s: float = 0.0
    """How long it has no title of its own."""
    minute_s: float = 60.0
    """What a minute of `timeout-minutes` takes."""
    environment: dict[str, str] = field(default_factory=dict)
    """Of the runners' service."""
    runs: dict[int, FakeRun] = field(default_factory=dict)
    lock: threading.Condition = field(default_factory=threading.Condition)
    storage_full: bool = False
    """The account's, for artifacts."""
    closed: bool = False
    _next: int = 17_000_000_000
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        """Have the runners wait for jobs."""
        for number in range(self.runners):
            thread = threading.Thread(target=self._work, args=(f"node{number}-gpu0",))
            thread.start()
            self._threads.append(thread)

    def close(self) -> None:
        """End all."""
        with self.lock:
            self.closed = True
            self.lock.notify_all()
            running = [run.job for run in self.runs.values() if run.job is not None]
        for job in running:
            job.interrupt(lose=True)
        for thread in self._threads:
            thread.join()

    def dispatch(self, file: str, given: dict[str, str]) -> FakeRun:
        """A run, which waits for a runner."""
        workflow = read_workflow(file)
        declared = workflow["on"]["workflow_dispatch"]["inputs"]
        inputs = {name: str(each.get("default", "")) for name, each in declared.items()} | given
        (job,) = workflow["jobs"].values()
        title, label = evaluate(workflow["run-name"], inputs), evaluate(job["runs-on"], inputs)
        with self.lock:
            self._next += 1
            now = time.monotonic()
            late = (now + self.late_s, now + self.named_late_s)
            run = FakeRun(self._next, file, inputs, title, label, *late)
            self.runs[run.number] = run
            self.lock.notify_all()
        return run

    def show_all(self) -> None:
        """From now on there is no run that isn't shown, and no later one will be."""
        self.late_s = 0.0
        for run in self.runs.values():
            run.shown_at = 0.0

    def cancel(self, run: FakeRun) -> bool:
        """False: it has ended."""
        with self.lock:
            if run.status == "completed":
                return False
            if run.job is None:
                run.status, run.conclusion = "completed", "cancelled"
            else:
                run.job.interrupt()
            return True

    def end(self, run: FakeRun, conclusion: str, archive: bytes | None = None) -> None:
        """As if a runner had taken it and ended so."""
        with self.lock:
            if archive is not None:
                run.artifacts.append(FakeArtifact(run.number * 10, "kernelbot-result", archive))
            run.status, run.conclusion = "completed", conclusion

    def lose(self, run: FakeRun) -> None:
        """The machine that it runs on is gone."""
        assert run.job is not None
        run.job.interrupt(lose=True)

    def _work(self, name: str) -> None:
        while (run := self._take(name)) is not None:
            assert run.job is not None
            conclusion = run.job.execute()
            with self.lock:
                run.status, run.conclusion = "completed", conclusion
                run.ended_at = time.monotonic()

    def _take(self, name: str) -> FakeRun | None:
        with self.lock:
            while not self.closed:
                waiting = [
                    run
                    for run in self.runs.values()
                    if run.status == "queued" and run.label == self.label
                ]
                if waiting:
                    return self._begin(waiting[0], name)
                self.lock.wait()
        return None

    def _begin(self, run: FakeRun, name: str) -> FakeRun:
        def upload(artifact: str, content: bytes) -> bool:
            if self.storage_full:
                return False
            with self.lock:
                number = run.number * 10 + len(run.artifacts)
                run.artifacts.append(FakeArtifact(number, artifact, content))
            return True

        run.status, run.runner = "in_progress", name
        run.job = JobRun(
            read_workflow(run.file),
            run.inputs,
            self.folder / name / "_work" / "workspace",
            {"RUNNER_NAME": name, **self.environment},
            self.minute_s,
            upload,
        )
        return run

    def judged(self) -> list[str]:
        """The jobs that the runners' nodes have begun."""
        logs = self.folder.glob("*/_work/workspace/judged.log")
        return [line for log in sorted(logs) for line in log.read_text().split()]
