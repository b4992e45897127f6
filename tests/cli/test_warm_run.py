"""`kernelbot run` with a judge that stays; what it survives is in tests/harness/host/warm."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kernelbot.catalog.skeleton import new_problem
from kernelbot.harness.host.warm.folder import PrivateFolder
from kernelbot.protocol import Lang
from tests.support.terminal import Shell
from tests.support.warm import end_judges


@pytest.fixture
def warm(tmp_path: Path) -> Iterator[Shell]:
    new_problem(tmp_path / "sums", "sums", Lang.PY)
    yield Shell(tmp_path, {"KERNELBOT_COLD": "", "XDG_RUNTIME_DIR": str(tmp_path)})
    folder = tmp_path / "kernelbot"
    folder.chmod(0o700)
    end_judges(PrivateFolder.open(folder))


@pytest.mark.exhaustive
def test_it_reports_what_a_new_judge_reports(warm: Shell) -> None:
    run = ("run", "sums", "sums/submission.py", "--json")
    cold, first, second = warm(*run, "--cold"), warm(*run), warm(*run)
    sockets = list((warm.home / "kernelbot").glob("*.sock"))
    assert (0, 0, 0, 1) == (cold.code, first.code, second.code, len(sockets))
    assert without_times(cold.document) == without_times(second.document)


def test_a_folder_that_others_can_enter_is_not_used(warm: Shell) -> None:
    (warm.home / "kernelbot").mkdir()
    (warm.home / "kernelbot").chmod(0o755)
    said = warm("run", "sums", "sums/submission.py")
    assert (0, True, []) == (
        said.code,
        "No judge is kept warm: Other accounts can enter" in said.err,
        list((warm.home / "kernelbot").iterdir()),
    )


def without_times(document: dict[str, Any]) -> dict[str, Any]:
    kept = {
        name: value for name, value in document.items() if name not in ("duration_s", "timings")
    }
    kept["phases"] = {name: phase["cases"] for name, phase in document["phases"].items()}
    return kept
