"""The step of a Buildkite build, with a docker that writes down how it was called."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.support.devices import with_devices

SCRIPT = Path(__file__).resolve().parents[2] / "deploy/buildkite/run-job.sh"
NVIDIA = ("nvidiactl", "nvidia0", "nvidia3")
PAYLOAD = "c2VjcmV0IHNlZWQ="
DOCKER = """#!/bin/sh
echo "docker $*" >> "{log}"
env >> "{log}.env"
case "$1" in
    run)
        cat > "{log}.stdin"
        {body}
        exit {code} ;;
    cp) {copy} ;;
    image) echo "sha256:0123 {serves}" ;;
    container) exit 1 ;;
    exec)
        cat > "{log}.stdin"
        exit {judged} ;;
esac
"""


class Agent:
    """A folder that a job runs in, and its docker."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "work"
        self.work.mkdir()
        self._bin = folder / "bin"
        self._bin.mkdir()
        self._log = folder / "log"
        self.put_docker()

    def put_docker(
        self,
        code: int = 0,
        copy: str = "echo '{}' > result.json",
        body: str = ":",
        serves: str = "jobs-in-turn",
        judged: int = 0,
    ) -> None:
        """`code`: how a container that is started ends; `judged`: how a job in one that stays."""
        path = self._bin / "docker"
        path.write_text(
            DOCKER.format(
                log=self._log, code=code, judged=judged, copy=copy, body=body, serves=serves
            )
        )
        path.chmod(0o755)

    def start(self, *devices: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            with_devices([str(SCRIPT)], devices),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.work,
            env={"PATH": f"{self._bin}:{os.environ['PATH']}", **environment},
        )

    def run(self, *devices: str, **environment: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*devices, **environment)
        said, complained = process.communicate(timeout=60)
        return subprocess.CompletedProcess([], process.returncode, said, complained)

    def calls(self) -> list[str]:
        return self._log.read_text().splitlines() if self._log.exists() else []

    def seen(self, what: str) -> str:
        """What docker's client found: `stdin` of the container, `env` of its own."""
        return Path(f"{self._log}.{what}").read_text()


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    if os.geteuid() != 0:
        pytest.skip("an ordinary user can't make a /dev")
    return Agent(tmp_path)


def test_the_image_gets_the_agents_gpu_and_limits(agent: Agent) -> None:
    done = agent.run(
        *NVIDIA,
        CUDA_VISIBLE_DEVICES="3",
        KERNELBOT_SLICE="buildkite-gpu3.slice",
        SUBMISSION_PAYLOAD=PAYLOAD,
    )
    assert (0, "") == (done.returncode, done.stderr)
    removed, started, copied, removed_again = agent.calls()
    assert "docker rm --force kernelbot-gpu3" == removed == removed_again
    assert "docker cp --quiet kernelbot-gpu3:/out/. ." == copied
    assert "--gpus device=3 --cgroup-parent buildkite-gpu3.slice" in started
    assert started.endswith(" kernelbot-runner:latest")
    assert (agent.work / "result.json").exists()


def test_the_payload_reaches_the_container_alone(agent: Agent) -> None:
    agent.run(*NVIDIA, CUDA_VISIBLE_DEVICES="0", SUBMISSION_PAYLOAD=PAYLOAD)
    assert PAYLOAD == agent.seen("stdin")
    assert PAYLOAD not in agent.seen("env") + "".join(agent.calls())


def test_links_go_in_by_their_variables_names(agent: Agent) -> None:
    links = {
        "SUBMISSION_ATTEMPT": "1.1.a",
        "SUBMISSION_PAYLOAD_URL": "https://here/p?key=1",
        "SUBMISSION_EVENTS_URL": "https://here/e?key=2",
        "SUBMISSION_HARNESS_URL": "https://here/harness.pyz",
        "SUBMISSION_HARNESS_SHA256": "0" * 64,
    }
    done = agent.run(*NVIDIA, CUDA_VISIBLE_DEVICES="0", **links)
    started = agent.calls()[1]
    assert (0, "", "") == (done.returncode, done.stderr, agent.seen("stdin"))
    assert started.endswith(
        f"{' '.join(f'--env {name}' for name in links)} kernelbot-runner:latest"
    )
    assert "https" not in "".join(agent.calls())


def test_results_of_the_job_before_are_not_sent_again(agent: Agent) -> None:
    (agent.work / "result.json").write_text("of another job")
    agent.put_docker(code=1, copy="true")
    failed = agent.run(*NVIDIA, CUDA_VISIBLE_DEVICES="0", SUBMISSION_PAYLOAD=PAYLOAD)
    assert (1, []) == (failed.returncode, list(agent.work.iterdir()))
    assert "run-job.sh: the image wrote no result (exit code 1).\n" == failed.stderr


def test_the_images_exit_code_is_the_jobs(agent: Agent) -> None:
    agent.put_docker(code=3)
    ended = agent.run(*NVIDIA, CUDA_VISIBLE_DEVICES="0", SUBMISSION_PAYLOAD=PAYLOAD)
    assert 3 == ended.returncode


WARM = {
    "CUDA_VISIBLE_DEVICES": "0",
    "SUBMISSION_PAYLOAD": PAYLOAD,
    "SUBMISSION_WARM_IDLE_S": "60",
    "SUBMISSION_WARM_LIMIT_S": "600",
}


def verbs(agent: Agent) -> list[str]:
    """Of all that docker was asked for."""
    return [line.split()[1] for line in agent.calls()]


def test_a_container_that_stays_gets_its_job_when_it_runs(agent: Agent) -> None:
    done = agent.run(*NVIDIA, **WARM)
    assert (0, "") == (done.returncode, done.stderr)
    assert ["image", "container", "rm", "run", "exec", "cp"] == verbs(agent)
    started, judging = agent.calls()[3:5]
    assert started.endswith(" /opt/kernelbot/in-own-cgroup kernelbot-runner:latest sleep 4800")
    assert judging.endswith(" kernelbot-gpu0 /opt/kernelbot/judge-payload")
    assert PAYLOAD == agent.seen("stdin")
    assert PAYLOAD not in agent.seen("env") + "".join(agent.calls())


def test_without_a_good_end_no_result_of_the_job_before_is_handed_in(agent: Agent) -> None:
    agent.put_docker(judged=126, copy="echo 'of the job before' > result.json")
    failed = agent.run(*NVIDIA, **WARM)
    assert (1, []) == (failed.returncode, list(agent.work.iterdir()))
    assert "run-job.sh: the image wrote no result (exit code 126).\n" == failed.stderr


def test_why_a_payload_cant_be_read_is_handed_in(agent: Agent) -> None:
    agent.put_docker(judged=3)
    assert 3 == agent.run(*NVIDIA, **WARM).returncode
    assert (agent.work / "result.json").exists()


def test_a_container_whose_job_failed_doesnt_stay(agent: Agent) -> None:
    agent.put_docker(judged=3)
    assert 3 == agent.run(*NVIDIA, **WARM).returncode
    assert "rm" == verbs(agent)[-1]


@pytest.mark.parametrize(
    ("serves", "changed"),
    [
        ("<no value>", {}),
        ("jobs-in-turn", {"KERNELBOT_WARM": "never"}),
        ("jobs-in-turn", {"SUBMISSION_WARM_IDLE_S": "0"}),
        ("jobs-in-turn", {"SUBMISSION_WARM_IDLE_S": "a'; echo x"}),
        ("jobs-in-turn", {"SUBMISSION_WARM_LIMIT_S": ""}),
    ],
)
def test_no_container_stays_of_an_old_image_or_if_it_must_not(
    agent: Agent, serves: str, changed: dict[str, str]
) -> None:
    agent.put_docker(serves=serves)
    assert 0 == agent.run(*NVIDIA, **{**WARM, **changed}).returncode
    assert ["rm", "run", "cp", "rm"] == [verb for verb in verbs(agent) if verb != "image"]


def test_a_job_that_is_cancelled_leaves_no_container_and_no_client(agent: Agent) -> None:
    agent.put_docker(body="exec sleep 60")
    process = agent.start(*NVIDIA, CUDA_VISIBLE_DEVICES="0", SUBMISSION_PAYLOAD=PAYLOAD)
    while not any(line.startswith("docker run") for line in agent.calls()):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert 143 == process.returncode
    # Its client has ended as well (it held the pipes), or it would make a container after this.
    assert "docker rm --force kernelbot-gpu0" == agent.calls()[-1]


@pytest.mark.parametrize(
    ("devices", "gpu", "payload", "why"),
    [
        (NVIDIA, "", PAYLOAD, "CUDA_VISIBLE_DEVICES"),
        (NVIDIA, "0,1", PAYLOAD, "CUDA_VISIBLE_DEVICES"),
        (NVIDIA, "a'; echo x", PAYLOAD, "CUDA_VISIBLE_DEVICES"),
        (NVIDIA, "0", "", "SUBMISSION_PAYLOAD"),
        ((), "0", PAYLOAD, "no GPU here"),
        (("kfd",), "0", PAYLOAD, "no AMD GPU 0"),
    ],
)
def test_what_cannot_be_run_starts_no_container(
    agent: Agent, devices: tuple[str, ...], gpu: str, payload: str, why: str
) -> None:
    failed = agent.run(*devices, CUDA_VISIBLE_DEVICES=gpu, SUBMISSION_PAYLOAD=payload)
    assert (1, []) == (failed.returncode, agent.calls())
    assert why in failed.stderr
