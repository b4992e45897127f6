"""What vendors type, from a bare machine to the first judged kernel: the blocks of their pages are
run in one go, as they are written, with stand-ins for what would change this machine."""

import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kernelbot.harness.archive import build
from tests.fakes.buildkite import TOKEN, fake_buildkite
from tests.fakes.serving import Request, Response
from tests.support.live import live_server
from tests.support.postgres import TestServer
from tests.test_documented_commands import ROOT, blocks

VENDORS = ROOT / "docs/vendors"
NOT_RUN = {
    "~/kernelbot/bin/pip": "tests/server/test_client_wheel.py installs what servers hand out",
    "python3 -m venv": "it is for the line above",
    "sudo CUDA_VISIBLE_DEVICES=0 ~/kernelbot": "tests/server/test_vendor_check.py does",
    "as_runner python3 kernelbot-harness.pyz vendor-check": "the same as on README.md",
    "export BUILDKITE_API_TOKEN": "a secret, which the test has set",
}
"""How lines begin that aren't run, and why."""
SUDO = """
while :; do
    case $1 in
        -u) shift 2 ;;
        [A-Z]*=*) export "$1"; shift ;;
        *) exec "$@" ;;
    esac
done
"""
DOCKER = """
case "$*" in
    *nvidia-smi*) echo 'GPU 0: NVIDIA H100' ;;
    run*) mkdir -p "{root}/out" && cd "{root}/out" && exec "{entry_point}" ;;
    *inspect*) echo sha256:0123 ;;
esac
"""
SVC = 'test "$1" != install || echo actions.runner.lab-kernels.node-gpu0.service > .service\n'
LIMITS = {"memory.max": "34359738368\n", "cpu.max": "1600000 100000\n"}


class OnceBusy:
    """Buildkite, as others use up its limit: the first question about the build is refused."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, request: Request) -> Response | None:
        if request.method != "GET" or not request.path.endswith("/builds/1"):
            return None
        self.asked += 1
        return Response(429, b"{}") if self.asked == 1 else None


@dataclass(frozen=True)
class Node:
    """A vendor's machine, as far as folders and stand-ins make one."""

    root: Path
    server: str
    harness: Path

    @property
    def log(self) -> Path:
        return self.root / "log"

    def put(self, name: str, body: str = ":", folder: str = "bin") -> None:
        """A program that writes down how it was called."""
        path = self.root / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\necho "{name} $*" >> "{self.log}"\n{body}\n')
        path.chmod(0o755)

    def calls(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def text(self, path: str) -> str:
        return (self.root / path).read_text()

    def type(self, page: str, api: str = "") -> subprocess.CompletedProcess[str]:
        """All that a page says, in one shell; `api`: where Buildkite's is."""
        script = "\n".join(textwrap.dedent(text) for kind, text in blocks(VENDORS / page)
                           if kind == "sh")  # fmt: skip
        typed = [line for line in script.splitlines() if not line.startswith(tuple(NOT_RUN))]
        script = "\n".join(typed)
        for word, instead in {
            "https://kernels.example.org": self.server,
            "https://api.buildkite.com": api,
            "/etc/": f"{self.root}/etc/",
            "/sys/fs/cgroup/": f"{self.root}/cgroup/",
            "/opt/actions-runner-gpu0": f"{self.root}/runner",
            "/opt/kernelbot": str(ROOT),
            "IMAGE@sha256:DIGEST": f"images.lab/kernelbot-runner@sha256:{'0' * 64}",
            " --gpu nvidia": "",  # there is none here
        }.items():
            script = script.replace(word, instead)
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            cwd=self.root,
            input="agent-token\n",
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
            env={
                "PATH": f"{self.root / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
                "HOME": str(self.root),
                "DESTDIR": str(self.root),
                "KERNELBOT_HARNESS": str(self.harness),
                "BUILDKITE_API_TOKEN": TOKEN,
            },
        )


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("harness") / "kernelbot-harness.pyz")


@pytest.fixture(scope="module")
def server(postgres: TestServer) -> Iterator[str]:
    with postgres.database() as url, live_server(url) as found:
        yield found.url


@pytest.fixture
def node(tmp_path: Path, server: str, harness: Path) -> Node:
    made = Node(tmp_path, server, harness)
    made.put("sudo", SUDO)
    entry_point = ROOT / "deploy/runner/judge-payload"
    made.put("docker", DOCKER.format(root=tmp_path, entry_point=entry_point))
    for name in ("git", "apt-get", "useradd", "usermod", "chown", "systemctl", "journalctl"):
        made.put(name)
    for name in ("pgrep", "nvidia-smi", "buildkite-agent"):
        made.put(name)
    for folder in ("buildkite-agent", "systemd/system", "cron.d"):
        (tmp_path / "etc" / folder).mkdir(parents=True)
    return made


# Each run has test_a_gpu_that_must_be_there_and_is_not_makes_the_node_unfit
# (vendor/test_check.py)
@pytest.mark.exhaustive
def test_a_machine_is_checked_with_the_servers_own_harness(node: Node, harness: Path) -> None:
    done = node.type("README.md")
    assert 0 == done.returncode, done.stderr
    assert "kernelbot-harness.pyz: OK\n" == done.stdout
    assert harness.read_bytes() == (node.root / "kernelbot-harness.pyz").read_bytes()
    assert json.loads(node.text("node.json"))["ok"]


@pytest.mark.exhaustive
def test_the_page_of_github_leads_to_a_judged_program(node: Node) -> None:
    node.put("config.sh", folder="runner")
    node.put("svc.sh", SVC, folder="runner")
    node.put("mkdir", 'test -d "$1" || exec /bin/mkdir "$@"')  # the runner is there already
    done = node.type("github-runner.md")
    assert 0 == done.returncode, done.stderr
    assert "Hello GPU!" in done.stdout.splitlines()
    assert "accepted (result.json)" in done.stderr
    unit = "etc/systemd/system/actions.runner.lab-kernels.node-gpu0.service.d/gpu.conf"
    assert "[Service]\nEnvironment=CUDA_VISIBLE_DEVICES=0\n" in node.text(unit)
    started = [line.split()[1] for line in node.calls() if line.startswith("svc.sh")]
    assert ["install", "start", "status"] == started


@pytest.mark.exhaustive
def test_the_page_of_buildkite_leads_to_a_judged_build(node: Node, harness: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("an ordinary user can't make a /dev for the agents")
    for name, text in LIMITS.items():
        path = node.root / "cgroup/buildkite.slice/buildkite-gpu0.slice" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with fake_buildkite(node.root / "agents", harness) as buildkite:
        buildkite.wrong = OnceBusy()
        done = node.type("buildkite.md", buildkite.url)
    assert 0 == done.returncode, done.stderr
    assert "Hello GPU!" in done.stdout.splitlines()
    assert '"verdict": "accepted"' in done.stdout
    assert ["passed"] == [build.state for build in buildkite.builds]
    assert "agent-token" in node.text("etc/buildkite-agent/agent-1/buildkite-agent.cfg")
    assert TOKEN not in "".join(node.calls())


def test_what_cron_is_given_is_a_line_that_works(node: Node) -> None:
    page = (VENDORS / "buildkite.md").read_text()
    lines = re.findall(r"echo '([^']+)' \| sudo tee /etc/cron.d/", page)
    assert 2 == len(lines)
    for line in lines:
        *when, user, command = line.split(maxsplit=6)
        assert (5, "root") == (len(when), user)
        done = subprocess.run(
            ["sh", "-ec", command.replace("/opt/kernelbot", str(ROOT))],
            env={"PATH": f"{node.root / 'bin'}:/usr/bin:/bin", "DESTDIR": str(node.root)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (0, "") == (done.returncode, done.stdout + done.stderr)


def test_every_line_that_is_not_run_is_there() -> None:
    typed = [
        line
        for page in ("README.md", "buildkite.md", "github-runner.md")
        for _, text in blocks(VENDORS / page)
        for line in text.splitlines()
    ]
    assert [] == [start for start in NOT_RUN if not any(line.startswith(start) for line in typed)]


def test_every_guide_says_whom_to_ask_and_what_to_send() -> None:
    guides = {page.stem: page.read_text() for page in VENDORS.glob("*.md") if page.stem != "README"}
    told = {name for name, text in guides.items() if re.search(r"Whom to ask: .*\sSend the ", text)}
    assert set(guides) == told
