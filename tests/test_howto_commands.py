"""The blocks of commands of the how-tos, run as they are written against one server."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.catalog.importing.suites import lay_flashinfer, lay_kernelbench, lay_tensara
from tests.support.terminal import Shell
from tests.test_documented_commands import ROOT, blocks, running_server, shell_in_a_folder

PAGES = sorted((ROOT / "docs" / "how-to").glob("*.md"))
INSTALLS, SERVES = "installs a package", "serves until it is stopped: the tutorial's test does"
ELSEWHERE, SECRET = "needs a server on another machine", "sets a secret or a place of one's own"
NO_DEVICE = "needs the device: tests/cli/test_verify_runs.py does it on a CPU"
A_MACHINE = "changes this machine: tests/deploy reads the files"
ALL = ""
PATIENCE_S = 280.0
"""For a block: some take 20 s of a processor, which others may share."""
NOT_RUN: dict[str, dict[str, str]] = {
    "agents": {
        "pip install": INSTALLS,
        "kernelbot login": ELSEWHERE,
        "kernelbot mcp": "serves until it is stopped: tests/cli/agents does",
    },
    "buildkite": {
        "BUILDKITE_": SECRET,
        "docker": "makes an image: tests/deploy starts what is in one",
        "kernelbot verify-runs": NO_DEVICE,
    },
    "check-a-result": {"kernelbot signing-key list": ELSEWHERE},
    "deploy-with-compose": {ALL: A_MACHINE},
    "deploy-with-systemd": {ALL: A_MACHINE},
    "discord": {"pip install": INSTALLS, "export": SECRET, "kernelbot serve": SERVES},
    "environment": {ALL: "serves until it is stopped: tests/environment does"},
    "first-board": {"kernelbot login": "asks a person for a token"},
    "github-actions": {"GITHUB_": SECRET, "kernelbot verify-runs": NO_DEVICE},
    "import-problems": {
        "pip install": INSTALLS,
        "kernelbot problem check": "needs torch: tests/catalog/importing/test_judged.py has it",
    },
    "judge-from-python": {
        "python examples": "takes a while: tests/examples/test_agents.py does it"
    },
    "judge-without-a-server": {
        "python3 kernelbot-harness.pyz": "has to be built: tests/harness/test_archive.py does"
    },
    "kubernetes": {ALL: "needs a cluster: tests/launchers has a fake, tests/deploy the files"},
    "manage-accounts": {"export": SECRET, "kernelbot serve": SERVES},
    "modal": {
        "pip install": INSTALLS,
        "modal": "needs an account at Modal: tests/launchers has a fake",
        "KERNELBOT_MODAL_": "needs an account at Modal: tests/launchers has a fake",
        "kernelbot verify-runs": NO_DEVICE,
    },
    "ray": {"pip install": INSTALLS, "kernelbot verify-runs": NO_DEVICE},
    "editors": {ALL: "needs an editor: tests/cli/dev has what they read"},
    "notebook": {"pip install": INSTALLS},
    "run-a-competition": {
        "kernelbot sync": "fetches from another host: tests/cli and tests/catalog have a server",
        "kernelbot export autumn.parquet --board autumn --hub": "publishes: tests/platform has a "
        "fake hub",
    },
    "run-a-server": {
        "kernelbot serve": SERVES,
        "kernelbot worker": SERVES,
        "pip install": INSTALLS,
        "kernelbot login": "asks a person for a token",
        "export DATABASE_URL": SECRET,
        "kernelbot db migrate": "needs a database of its own: tests/cli/test_database_commands.py",
    },
    "slurm": {"kernelbot verify-runs": NO_DEVICE},
    "try-without-a-gpu": {
        "kernelbot submit": "needs a board for a GPU: tests/worker/test_before_a_gpu.py has one",
    },
    "work-on-a-kernel": {ALL: "watches until it is stopped: tests/cli/dev does"},
    "use-popcorn-cli": {ALL: "needs popcorn-cli: tests/conformance speaks as it does"},
}
"""By page: how lines begin that aren't run, and why. ALL: the page's every line."""
INSTEAD = {
    "PROBLEM_DIR": "examples/sort_np",
    "--board BOARD": "--board autumn",
    "artifacts ID": "artifacts 1",
    "attest 12": "attest 1",
    "--key KEY": "--key $(kernelbot signing-key list --json | grep -o '[A-Za-z0-9+/]\\{43\\}=')",
    "ABCDE-FGHJK-MNPQR-STVWX": "$(head -1 codes.txt)",
    "vectoradd_triton mine.py": "vectoradd_triton "
    "examples/vectoradd_triton/solutions/correct/blocks_of_256.py",
    "vectoradd_cu mine.cu": "vectoradd_cu examples/vectoradd_cu/solutions/correct/grid_stride.cu",
    "cd src &&": f"cd {shlex.quote(str(ROOT / 'src'))} &&",
}
"""What a reader puts in the place of a word."""
READY = """\
cp examples/sort_np/solutions/correct/*.py . && mv "$(ls *.py | head -1)" mine.py
cp mine.py best.py
kernelbot board create --from examples/sort_np --name autumn
kernelbot board create --from examples/sort_np --name winter
kernelbot submit mine.py --board autumn --mode leaderboard
eve=$(kernelbot user create eve --json | grep -o '"token": *"[^"]*"' | cut -d '"' -f 4)
KERNELBOT_TOKEN=$eve kernelbot submit mine.py --board autumn --mode test
"""


def without_comment(line: str) -> str:
    return re.sub(r"\s+# .*", "", line)


def scripts(page: Path) -> list[str]:
    """The page's blocks without the lines that aren't run, empty ones left out."""
    left_out = tuple(NOT_RUN.get(page.stem, ()))
    found = []
    for kind, text in blocks(page):
        lines = [line for line in text.splitlines() if not (left_out and line.startswith(left_out))]
        script = "\n".join(map(without_comment, lines)).strip()
        if kind == "sh" and script:
            for word, instead in INSTEAD.items():
                script = script.replace(word, instead)
            found.append(script)
    return found


def run(shell: Shell, script: str) -> str:
    """What a block said, with its exit code in front unless that is 0; empty if all went well."""
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        cwd=shell.home,
        env=shell.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=PATIENCE_S,
        check=False,
    )
    said = done.stdout.decode(errors="replace")
    return f"exit code {done.returncode} of:\n{script}\n{said}" if done.returncode else ""


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    """A folder with the examples and a server with boards, an account and a submission."""
    with shell_in_a_folder() as shell, running_server(shell):
        lay_kernelbench(shell.home / "KernelBench")
        lay_flashinfer(shell.home / "flashinfer_trace")
        lay_tensara(shell.home / "problems", name="relu")
        assert run(shell, READY) == ""
        yield shell


@pytest.mark.timeout(2 * PATIENCE_S)
@pytest.mark.parametrize(
    "page", [page for page in PAGES if scripts(page)], ids=lambda page: page.stem
)
@pytest.mark.exhaustive
def test_the_commands_of_a_page_do_what_they_say(shell: Shell, page: Path) -> None:
    assert [] == [said for said in (run(shell, script) for script in scripts(page)) if said]


def test_every_line_that_is_not_run_is_there() -> None:
    written = {page.stem: [line for _, text in blocks(page) for line in text.splitlines()]
               for page in PAGES}  # fmt: skip
    stale = [
        (page, start)
        for page, starts in NOT_RUN.items()
        for start in starts
        if not any(line.startswith(start) for line in written.get(page, ()))
    ]
    assert [] == stale
