"""A problem, and warm judges that end with a file's tests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelbot.catalog.skeleton import new_problem
from kernelbot.harness.host.warm.folder import PrivateFolder
from kernelbot.protocol import Lang
from tests.support.warm import end_judges

SAMPLING = "[sampling]\nmax_samples = 20\nwall_cap_s = 0.3\npatience_s = 3\nwarmup_s = 0.0\n"
LIMITED = ("test_timeout: 30", "test_timeout: 10")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("a' home")
    (folder / "kernelbot.toml").write_text(SAMPLING)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(folder))
        patch.setenv("KERNELBOT_CONFIG", str(folder / "kernelbot.toml"))
        yield folder
        if (folder / "kernelbot").is_dir():
            end_judges(PrivateFolder.open(folder / "kernelbot"))


@pytest.fixture(scope="module")
def sums(home: Path) -> Path:
    """Multiplies arrays; a test phase may take ten seconds."""
    new_problem(home / "sums", "sums", Lang.PY)
    task = home / "sums" / "task.yml"
    task.write_text(task.read_text().replace(*LIMITED))
    return home / "sums"


@pytest.fixture(scope="module")
def patient(home: Path) -> Path:
    """The same with limits that no test waits for."""
    new_problem(home / "patient", "patient", Lang.PY)
    task = home / "patient" / "task.yml"
    text = task.read_text()
    for limit in ("test_timeout: 30", "benchmark_timeout: 60"):
        text = text.replace(limit, f"{limit}0")
    task.write_text(text)
    return home / "patient"


@pytest.fixture
def open_files() -> Iterator[None]:
    """A test leaves no descriptor open."""
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 (names are enough)
    yield
    assert before >= len(os.listdir("/proc/self/fd"))  # noqa: PTH208
