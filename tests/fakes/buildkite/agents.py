"""Builds and agents: what Buildkite does with a new build."""

import os
import signal
import subprocess
import sys
import threading
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.support.devices import with_devices
from tests.support.groups import signal_group

ROOT = Path(__file__).parents[3]
_DOCKER = Path(__file__).parent


def read_pipeline() -> dict[str, Any]:
    """The pipeline that ships with the project."""
    document: dict[str, Any] = yaml.safe_load(
        (ROOT / "deploy" / "buildkite" / "pipeline.yml").read_text()
    )
    return document


@dataclass
class FakeFile:
    """An artifact."""

    path: str
    content: bytes
    id: str = field(default_factory=lambda: str(uuid.uuid4()))


@dataclass
class FakeBuild:
    """One build, with its only job."""

    number: int
    message: str
    env: dict[str, str]
    state: str = "scheduled"
    job_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    job_state: str = "scheduled"
    exit_status: int | None = None
    agent: str | None = None
    artifacts: list[FakeFile] = field(default_factory=list)

    def shown(self, *, jobs: bool) -> dict[str, Any]:
        """As the API tells it."""
        job = {
            "id": self.job_id,
            "type": "script",
            "state": self.job_state,
            "exit_status": self.exit_status,
            "agent": {"name": self.agent} if self.agent else None,
        }
        return {
            "id": str(uuid.uuid5(uuid.NAMESPACE_URL, str(self.number))),
            "number": self.number,
            "state": self.state,
            "blocked": self.state == "blocked",
            "message": self.message,
            "env": self.env,
            **({"jobs": [{"id": "1", "type": "waiter"}, job]} if jobs else {}),
        }


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
    connected: bool = True
    """False: nobody has started the agents."""
    blocks: bool = False
    """New builds wait for somebody to unblock them."""
    builds: dict[int, FakeBuild] = field(default_factory=dict)
    lock: threading.Condition = field(default_factory=threading.Condition)
    closed: bool = False
    agents: list[FakeAgent] = field(default_factory=list)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        """Have the agents wait for jobs."""
        for queue in self.queues:
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
            build.state = build.job_state = state

    def cancel(self, build: FakeBuild) -> bool:
        """False: it has ended."""
        with self.lock:
            if build.state in ("scheduled", "blocked"):
                build.state = build.job_state = "canceled"
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
        while (build := self._take(agent)) is not None:
            code = self._run(agent, build)
            with self.lock:
                self._ended(agent, build, code)
                agent.build = None

    def _take(self, agent: FakeAgent) -> FakeBuild | None:
        (step,) = read_pipeline()["steps"]
        assert step["agents"] == {"queue": "${GPU_QUEUE}"}
        with self.lock:
            while not self.closed and agent.connected:
                for build in self.builds.values():
                    if build.state == "scheduled" and build.env.get("GPU_QUEUE") == agent.queue:
                        build.state = build.job_state = "running"
                        build.agent, agent.build = agent.name, build
                        return build
                self.lock.wait()
        return None

    def _run(self, agent: FakeAgent, build: FakeBuild) -> int:
        """The exit code of the step."""
        (step,) = read_pipeline()["steps"]
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
            "FAKE_JUDGED_LOG": str(self.folder / "judged.log"),
            "KERNELBOT_HARNESS": str(self.harness),
        }

    def _ended(self, agent: FakeAgent, build: FakeBuild, code: int) -> None:
        if not agent.connected:
            build.state, build.job_state, build.exit_status = "failed", "failed", -1
        elif build.state == "canceling":
            build.state, build.job_state, build.exit_status = "canceled", "canceled", code
        else:
            build.state = "passed" if code == 0 else "failed"
            build.job_state, build.exit_status = build.state, code
