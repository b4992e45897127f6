"""A scheduler of somebody else's is one more entry point."""

import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from kernelbot.domain.errors import UserError
from kernelbot.launchers.kinds import KINDS
from kernelbot.server.settings import read_settings
from kernelbot.server.work import launchers
from tests.support import packages

ROOT = Path(__file__).parents[2]
THEIRS = """
from typing import ClassVar, Literal
from kernelbot.launchers.table import LauncherPlace, LauncherTable

class Launcher:
    def __init__(self, place):
        self.place = place

class Table(LauncherTable):
    title: ClassVar[str] = "Cron"
    variables: ClassVar[tuple[str, ...]] = ("CRON_TOKEN",)
    kind: Literal["cron"]
    minute: int
    def build(self, place: LauncherPlace):
        return Launcher(place)
"""
CONFIGURED = """
[launchers.nightly]
kind = "cron"
minute = 7
[[devices]]
name = "CPU"
launcher = "nightly"
"""


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CRON_TOKEN", raising=False)


def install(
    monkeypatch: pytest.MonkeyPatch, folder: Path, *, module: str, entry: str = "Table"
) -> None:
    packages.install(
        monkeypatch,
        folder,
        module=module,
        group=KINDS.name,
        entry=f"cron = their_package:{entry}",
    )


def test_ours_are_installed_as_others_are() -> None:
    assert ["buildkite", "github", "kubernetes", "modal", "ray", "slurm"] == KINDS.names()
    titles = [KINDS.load(kind).title for kind in KINDS.names()]
    assert ["Buildkite", "GitHub Actions", "Kubernetes", "Modal", "Ray", "Slurm"] == titles


def test_a_kind_of_another_package_is_configured_and_built(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(monkeypatch, tmp_path, module=THEIRS)
    Path("kernelbot.toml").write_text(CONFIGURED)
    Path(".env").write_text("CRON_TOKEN=secret\nOTHER=x\n")
    config = read_settings()
    place = launchers(config)["nightly"].place  # type: ignore[attr-defined]  # theirs
    assert ("nightly", {"CRON_TOKEN": "secret"}) == (place.name, place.environment)
    monkeypatch.setenv("CRON_TOKEN", "newer")
    assert {"CRON_TOKEN": "newer"} == config.launcher_environment()


def test_its_mistakes_are_told_like_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(monkeypatch, tmp_path, module=THEIRS)
    Path("kernelbot.toml").write_text(CONFIGURED.replace("minute = 7", "hour = 3"))
    with pytest.raises(UserError, match=r"launchers\.nightly: minute: .*; hour: isn't known"):
        read_settings()


@pytest.mark.parametrize(
    ("module", "entry", "said"),
    [
        ("import nothing_of_this_name", "Table", "ModuleNotFoundError"),
        ("", "Table", "AttributeError"),
        ("Table = 3", "Table", "it is no LauncherTable"),
        ("class Table: pass", "Table", "it is no LauncherTable"),
    ],
)
def test_a_package_that_is_broken_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, module: str, entry: str, said: str
) -> None:
    install(monkeypatch, tmp_path, module=module, entry=entry)
    Path("kernelbot.toml").write_text(CONFIGURED)
    with pytest.raises(UserError, match=rf"'cron' can't be loaded from .*{re.escape(said)}"):
        read_settings()


@pytest.mark.parametrize("kind", ["condor", "", "a'; echo x", 3, None])
def test_an_unknown_kind_names_those_that_there_are(kind: object) -> None:
    written = "" if kind is None else f"kind = {kind!r}" if kind == 3 else f'kind = "{kind}"'
    Path("kernelbot.toml").write_text(f"[launchers.x]\n{written}\n")
    with pytest.raises(
        UserError, match="must be one of buildkite, github, kubernetes, modal, ray, slurm"
    ):
        read_settings()


def test_each_kind_that_is_declared_can_be_loaded() -> None:
    declared = [one for one in entry_points(group=KINDS.name) if "kernelbot" in one.value]
    assert 6 == len([KINDS.load(one.name) for one in declared])
