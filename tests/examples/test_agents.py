"""The searches of `examples/agents`, with few judgings."""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from kernelbot.harness.host.warm.folder import PrivateFolder
from tests.support.terminal import SOURCE
from tests.support.warm import end_judges

AGENTS = Path(__file__).parents[2] / "examples" / "agents"


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("runtime")
    yield folder
    end_judges(PrivateFolder.open(folder / "kernelbot"))


@pytest.mark.timeout(300)  # some seconds of a processor, which others may share
@pytest.mark.exhaustive  # those of tests/library have several judged at each run
@pytest.mark.parametrize("program", ["best_of_n", "evolve"])
def test_a_search_finds_something_and_draws_it(runtime: Path, program: str) -> None:
    judgings = 24  # more than a generation
    picture = runtime / f"{program}.svg"
    done = subprocess.run(
        [sys.executable, AGENTS / f"{program}.py", f"--judgings={judgings}", f"--plot={picture}"],
        cwd=runtime,
        env={**os.environ, "XDG_RUNTIME_DIR": str(runtime), "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (0, "") == (done.returncode, done.stderr)
    judged, best, confidence = done.stdout.splitlines()
    assert judged.startswith(f"{judgings} judged in ")
    assert judged.endswith(" 0 of them refused.")
    assert best.startswith("Best: ")
    assert confidence.startswith("With 95 % confidence ")
    assert picture.read_text().startswith("<svg")


def test_an_evolution_goes_on_once_all_changes_of_the_best_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(AGENTS))
    evolve, template = import_module("evolve"), import_module("template")
    search = evolve.Evolution(judgings=1000, seed=1)
    best = template.Candidate("chunks", template.SMALLEST)
    search.found.rewards.append((1.0, best))
    search._children += [best] * evolve.FIRST
    search._known |= {
        template.Candidate(method, block)
        for method in template.METHODS
        for block in range(template.SMALLEST, 2 * template.SMALLEST + 1)
    }
    assert search._next().block > 2 * template.SMALLEST
