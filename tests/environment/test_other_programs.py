"""Programs of others, as their packages are: OpenEnv's client and validator, the task set of
`verifiers` (with the version of OpenEnv that it takes), and `datasets`. They are installed into
environments of their own, since what they need contradicts what we pin."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.environment.wire import Served
from tests.library.sources import RIGHT, WRONG

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]
ROOT = Path(__file__).resolve().parents[2]
EPISODE = """
import json, sys
from openenv import GenericEnvClient

url, sources = sys.argv[1], json.loads(sys.argv[2])
with GenericEnvClient(base_url=url).sync() as env:
    first = env.reset(split="train", index=0, seed=3)
    results = [env.step({"source": source}) for source in sources]
    state = env.state()
print(json.dumps({
    "task": first.observation["task"]["id"],
    "rewards": [result.reward for result in results],
    "done": [result.done for result in results],
    "verdicts": [result.observation["report"]["verdict"] for result in results],
    "steps": state["step_count"],
}))
"""
FULL = """
import sys
from openenv import GenericEnvClient

try:
    with GenericEnvClient(base_url=sys.argv[1]).sync() as env:
        env.reset()
except RuntimeError as error:
    print(error)
"""
DATASET = """
import json, sys
from datasets import load_dataset

loaded = load_dataset("parquet", data_files=sys.argv[1], split="train", cache_dir=sys.argv[2])
print(json.dumps({"columns": loaded.column_names, "verdicts": sorted(set(loaded["verdict"]))}))
"""
TASK_SET = """
import asyncio, contextlib, json, sys
from types import SimpleNamespace
from verifiers.v1.tasksets.openenv.taskset import OpenEnvConfig, OpenEnvEnv, OpenEnvTaskset

url, replies = sys.argv[1], json.loads(sys.argv[2])
rewards, prompts = {}, []

class Interaction:
    trace = SimpleNamespace(record_reward=rewards.__setitem__, stop=print)

    async def turn(self, prompt):
        prompts.append(json.loads(prompt)["observation"])
        return SimpleNamespace(terminated=False, last_reply=replies[len(prompts) - 1])

@contextlib.asynccontextmanager
async def interaction(task):
    yield Interaction()

player = SimpleNamespace(player=SimpleNamespace(interaction=interaction))
tasks = OpenEnvTaskset(OpenEnvConfig(base_url=url, resets=[{"split": "train", "index": 0}])).load()
for task in tasks:
    asyncio.run(OpenEnvEnv.run(None, task, player))
print(json.dumps({"rewards": rewards, "attempts": [seen["attempt"] for seen in prompts]}))
"""
"""An episode of `verifiers`' task set, with replies of ours in the place of a model's."""
Installed = Callable[..., Path]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The Python of an environment with these packages; skips the test if pip can't have them."""
    made: dict[tuple[str, ...], Path] = {}

    def python(*packages: str) -> Path:
        if packages not in made:
            folder = tmp_path_factory.mktemp("installed")
            subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
            pip = [str(folder / "bin/python"), "-m", "pip", "install", "--quiet", *packages]
            done = subprocess.run(pip, capture_output=True, text=True, check=False)
            if done.returncode:
                last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
                pytest.skip(f"pip can't install {' '.join(packages)}: {last}")
            made[packages] = folder / "bin/python"
        return made[packages]

    return python


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, timeout=600
    )


def test_openenvs_client_plays_an_episode(installed: Installed, server: Served) -> None:
    done = run(installed("openenv==0.10.*"), "-c", EPISODE, server.url, json.dumps([WRONG, RIGHT]))
    assert (0, "") == (done.returncode, done.stderr)
    assert {
        "task": "sums",
        "rewards": [0.0, 1.0],
        "done": [False, True],
        "verdicts": ["wrong_answer", "accepted"],
        "steps": 2,
    } == json.loads(done.stdout)


def test_openenvs_client_is_told_that_there_is_no_room(
    installed: Installed, server: Served
) -> None:
    names = []
    while (answer := server.post("/reset")).status_code == 200:
        names.append(answer.json()["metadata"]["episode_id"])
    done = run(installed("openenv==0.10.*"), "-c", FULL, server.url)
    for name in names:
        last = {"source": "", "is_last": True}
        server.post("/step", {"episode_id": name, "action": last})
    assert "All 100 sessions of this server are taken" in done.stdout
    assert "CAPACITY_REACHED" in done.stdout


def test_openenvs_validator_finds_nothing_wrong_with_a_server(
    installed: Installed, server: Served
) -> None:
    validator = installed("openenv==0.10.*").parent / "openenv"
    done = run(validator, "validate", server.url, "--json", "--timeout", "60")
    report = json.loads(done.stdout)
    assert (0, []) == (done.returncode, report["summary"]["failed_criteria"])
    assert ("simulation", "openenv-http/1.x") == (report["mode"], report["standard_profile"])


def test_openenvs_validator_finds_nothing_wrong_with_the_manifest(installed: Installed) -> None:
    validator = installed("openenv==0.10.*").parent / "openenv"
    folder = ROOT / "deploy/openenv"
    done = run(validator, "validate", folder, "--level", "static", "--skip-build", "--json")
    failed = [one for one in json.loads(done.stdout)["results"] if one["status"] == "fail"]
    assert (0, []) == (done.returncode, failed)


def test_the_task_set_of_verifiers_plays_an_episode(installed: Installed, server: Served) -> None:
    replies = [WRONG, f"```python\n{RIGHT}```"]
    python = installed("verifiers[openenv]==0.4.*")
    done = run(python, "-c", TASK_SET, server.url, json.dumps(replies))
    assert 0 == done.returncode, done.stderr
    expected = {"rewards": {"openenv_reward": 1.0}, "attempts": [0, 1]}
    assert expected == json.loads(done.stdout.splitlines()[-1])


def test_records_are_a_dataset(
    installed: Installed, server: Served, records: Path, tmp_path: Path
) -> None:
    with server.talk() as talk:
        talk.reset()
        talk.step(WRONG)
        talk.step(RIGHT)
    done = run(
        installed("datasets"), "-c", DATASET, str(records / "*.parquet"), str(tmp_path / "cache")
    )
    assert 0 == done.returncode, done.stderr
    found = json.loads(done.stdout)
    assert {"source", "report", "reward", "duration_s"} <= set(found["columns"])
    assert {"accepted", "wrong_answer"} <= set(found["verdicts"])
