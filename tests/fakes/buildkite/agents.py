"""Builds and agents: what Buildkite does with a new build."""

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.support.devices import with_devices
from tests.support.groups import signal_group

ROOT = Path(__file__).parents[3]
_DOCKER = Path(__file__).parent
PASTED = ROOT / "deploy" / "buildkite" / "steps.yml"
"""What an organiser pastes into the pipeline's editor."""
_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)")
_UPLOAD = ["buildkite-agent", "pipeline", "upload"]


def read_step(text: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """The only step of a pipeline's text, its variables replaced; by nothing if they aren't set."""
    replaced = _VARIABLE.sub(lambda found: environment.get(found[1] or found[2], ""), text)
    (step,) = yaml.safe_load(replaced)["steps"]
    return dict(step)


def pasted_step(build: "FakeBuild") -> dict[str, Any]:
    """The step in the pipeline's editor. There Buildkite knows no variables but its own."""
    own = {"BUILDKITE_MESSAGE": build.message, "BUILDKITE_BRANCH": "main"}
    return read_step(PASTED.read_text(), own)


@dataclass
class FakeFile:
    """An artifact."""

    path: str
    content: bytes
    id: str = field(default_factory=lambda: str(uuid.uuid4()))


@dataclass
class FakeJob:
    """One step of a build, on its way."""

    step: dict[str, Any]
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    state: str = "scheduled"
    exit_status: int | None = None
    agent: str | None = None

    @property
    def queue(self) -> str:
        """Whose agents may take it."""
        return str(self.step["agents"]["queue"])

    def shown(self) -> dict[str, Any]:
        """As the API tells it."""
        return {
            "id": self.id,
            "type": "script",
            "name": self.step.get("label"),
            "step_key": self.step.get("key"),
            "command": self.step["command"],
            "agent_query_rules": [f"queue={self.queue}"],
            "state": self.state,
            "exit_status": self.exit_status,
            "soft_failed": False,
            "agent": {"name": self.agent} if self.agent else None,
        }


@dataclass
class FakeBuild:
    """One build. The job of the pasted step uploads the one that judges."""

    number: int
    message: str
    env: dict[str, str]
    state: str = "scheduled"
    jobs: list[FakeJob] = field(default_factory=list)
    artifacts: list[FakeFile] = field(default_factory=list)
    told_state: str | None = None
    """What is told instead of its state until it ends."""

    def __post_init__(self) -> None:
        self.jobs.append(FakeJob(pasted_step(self)))

    def upload(self, file: str) -> FakeJob:
        """What `buildkite-agent pipeline upload` does in a job of this build: it replaces every
        variable of the file by the job's environment."""
        self.jobs.append(FakeJob(read_step((ROOT / file).read_text(), self.env)))
        return self.jobs[-1]

    @property
    def judging(self) -> FakeJob:
        """The job of the uploaded step; it is uploaded if it wasn't yet."""
        if len(self.jobs) == 1:
            upload, self.jobs[0].state, self.jobs[0].exit_status = self.jobs[0], "passed", 0
            self.upload(shlex.split(upload.step["command"])[-1])
        return self.jobs[-1]

    def shown(self, *, jobs: bool) -> dict[str, Any]:
        """As the API tells it."""
        over = self.state in ENDS
        return {
            "id": str(uuid.uuid5(uuid.NAMESPACE_URL, str(self.number))),
            "number": self.number,
            "state": self.state if over else self.told_state or self.state,
            "blocked": self.state == "blocked",
            "message": self.message,
            "commit": "HEAD",
            "branch": "main",
            "env": self.env,
            "source": "api",
            "created_at": "2026-11-01T10:00:00.000Z",
            "scheduled_at": "2026-11-01T10:00:00.000Z",
            "started_at": None if self.state == "scheduled" else "2026-11-01T10:00:01.000Z",
            "finished_at": "2026-11-01T10:00:02.000Z" if over else None,
            "meta_data": {"kernelbot": self.message},
            **({"jobs": [job.shown() for job in self.jobs]} if jobs else {}),
        }


ENDS = frozenset(("passed", "failed", "canceled", "skipped", "not_run"))


@dataclass
class FakeAgent:
    """Listens to one queue, in a thread and a folder of its own."""

    queue: str
    folder: Path
    connected: bool = True
    build: FakeBuild | None = None
    process: subprocess.Popen[bytes] | None = None

    @property
    def name(self) -> str:
        """As `setup-agent.sh` makes it."""
        return f"node-{self.queue}"


@dataclass
class FakeAgents:
    """All builds of a pipeline, and its agents."""

    folder: Path
    harness: Path
    """What the runner image holds."""
    queues: tuple[str, ...] = ("nvidia-h100-0", "nvidia-h100-1")
    uploads: str = "uploads"
    """The queue of the agent that has no GPU."""
    connected: bool = True
    """False: nobody has started the agents."""
    blocks: bool = False
    """New builds wait for somebody to unblock them."""
    builds: dict[int, FakeBuild] = field(default_factory=dict)
    lock: threading.Condition = field(default_factory=threading.Condition)
    closed: bool = False
    agents: list[FakeAgent] = field(default_factory=list)
    _threads: list[threading.Thread] = field(default_factory=list)

    @property
    def image(self) -> Path:
        """The file with the id of the image that is on the agents' machine, and its label."""
        return self.folder / "image"

    def start(self) -> None:
        """Have the agents wait for jobs."""
        self.image.write_text("sha256:0123 jobs-in-turn\n")
        for queue in (*self.queues, self.uploads):
            agent = FakeAgent(queue, self.folder / queue, self.connected)
            self.agents.append(agent)
            if self.connected:
                thread = threading.Thread(target=self._work, args=(agent,))
                thread.start()
                self._threads.append(thread)

    def close(self) -> None:
        """End all."""
        with self.lock:
            self.closed = True
            self.lock.notify_all()
        for agent in self.agents:
            self._signal(agent, signal.SIGTERM)
        for thread in self._threads:
            thread.join()
        for agent in self.agents:
            self._remove_container(agent)

    def create(self, message: str, env: dict[str, str]) -> FakeBuild:
        """A build, which waits for an agent of its queue."""
        with self.lock:
            state = "blocked" if self.blocks else "scheduled"
            build = FakeBuild(len(self.builds) + 1, message, env, state)
            self.builds[build.number] = build
            self.lock.notify_all()
        return build

    def end(self, build: FakeBuild, state: str, content: bytes | None = None) -> None:
        """As if an agent had taken it and ended so."""
        with self.lock:
            if content is not None:
                build.artifacts.append(FakeFile("result.json", content))
            build.state = build.judging.state = state

    def cancel(self, build: FakeBuild) -> bool:
        """False: it has ended."""
        with self.lock:
            if build.state in ("scheduled", "blocked") or build.jobs[-1].state == "scheduled":
                build.state = build.jobs[-1].state = "canceled"
            elif build.state == "running":
                build.state = "canceling"
                for agent in self.agents:
                    if agent.build is build:
                        self._signal(agent, signal.SIGTERM)
            elif build.state != "canceling":
                return False
            return True

    def lose(self, queue: str) -> None:
        """The machine of the queue's agent is gone."""
        (agent,) = (each for each in self.agents if each.queue == queue)
        with self.lock:
            agent.connected = False
        self._signal(agent, signal.SIGKILL)
        self._remove_container(agent)

    def kill(self, queue: str) -> None:
        """The agent's job is killed, and its container isn't."""
        (agent,) = (each for each in self.agents if each.queue == queue)
        self._signal(agent, signal.SIGKILL)

    def container(self, queue: str) -> Path:
        """The folder of its container, and the home of all that runs in it."""
        return self.folder / queue / "containers" / "kernelbot-gpu0"

    def _remove_container(self, agent: FakeAgent) -> None:
        subprocess.run([_DOCKER / "docker", "rm", "--force", "kernelbot-gpu0"],
                       env=self._environment(agent), check=True)  # fmt: skip

    def judged(self) -> list[str]:
        """The jobs that the images' nodes have begun."""
        log = self.folder / "judged.log"
        return log.read_text().split() if log.exists() else []

    def _signal(self, agent: FakeAgent, number: int) -> None:
        if agent.process is not None:
            signal_group(agent.process, number)

    def _work(self, agent: FakeAgent) -> None:
        while (taken := self._take(agent)) is not None:
            build, job = taken
            code = self._execute(agent, build, job)
            with self.lock:
                self._ended(agent, build, job, code)
                agent.build = None
                self.lock.notify_all()

    def _take(self, agent: FakeAgent) -> tuple[FakeBuild, FakeJob] | None:
        with self.lock:
            while not self.closed and agent.connected:
                for build in self.builds.values():
                    job = build.jobs[-1]
                    open_build = build.state in ("scheduled", "running")
                    if open_build and job.state == "scheduled" and job.queue == agent.queue:
                        build.state = job.state = "running"
                        job.agent, agent.build = agent.name, build
                        return build, job
                self.lock.wait()
        return None

    def _execute(self, agent: FakeAgent, build: FakeBuild, job: FakeJob) -> int:
        """The exit code of the job's command."""
        words = shlex.split(job.step["command"])
        if words[:3] != _UPLOAD:
            return self._run(agent, build, job.step)
        with self.lock:
            build.upload(*words[3:])
        return 0

    def _run(self, agent: FakeAgent, build: FakeBuild, step: dict[str, Any]) -> int:
        checkout = agent.folder / "checkout"
        checkout.mkdir(parents=True, exist_ok=True)
        if not (checkout / "deploy").exists():
            (checkout / "deploy").symlink_to(ROOT / "deploy")
        with (agent.folder / "log").open("ab") as log:
            agent.process = subprocess.Popen(
                with_devices([str(checkout / step["command"])], ("nvidiactl", "nvidia0")),
                cwd=checkout,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**self._environment(agent), **build.env},
            )
            if build.state == "canceling" or self.closed:
                self._signal(agent, signal.SIGTERM)
            code = agent.process.wait()
        for pattern in step["artifact_paths"]:
            found = sorted(checkout.glob(pattern)) if code >= 0 else []
            build.artifacts += [
                FakeFile(str(path.relative_to(checkout)), path.read_bytes()) for path in found
            ]
        return code

    def _environment(self, agent: FakeAgent) -> dict[str, str]:
        return {
            "PATH": f"{_DOCKER}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(agent.folder),
            "BUILDKITE": "true",
            "CUDA_VISIBLE_DEVICES": "0",
            "FAKE_CONTAINERS": str(agent.folder / "containers"),
            "FAKE_ENTRY_POINT": str(ROOT / "deploy" / "runner" / "judge-payload"),
            "FAKE_IMAGE": str(self.image),
            "FAKE_JUDGED_LOG": str(self.folder / "judged.log"),
            "KERNELBOT_HARNESS": str(self.harness),
        }

    def _ended(self, agent: FakeAgent, build: FakeBuild, job: FakeJob, code: int) -> None:
        job.exit_status = code
        if not agent.connected:
            build.state, job.state, job.exit_status = "failed", "failed", -1
        elif build.state == "canceling":
            build.state = job.state = "canceled"
        else:
            job.state = "passed" if code == 0 else "failed"
            if job is build.jobs[-1]:
                build.state = job.state
