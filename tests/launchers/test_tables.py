"""The tables of schedulers, and what the environment adds to them."""

from pathlib import Path

import pytest

from kernelbot.domain.errors import UserError
from kernelbot.harness.archive import build
from kernelbot.launchers.buildkite import BuildkiteLauncher
from kernelbot.launchers.buildkite.table import BuildkiteTable
from kernelbot.launchers.github import GithubDevice, GithubLauncher
from kernelbot.launchers.github.table import GithubTable
from kernelbot.launchers.table import LauncherPlace
from kernelbot.protocol import SandboxMode, Vendor
from kernelbot.server.settings import Settings, read_settings
from kernelbot.server.tables import DeviceSettings
from kernelbot.server.work import launchers

VARIABLES = (
    "GITHUB_TOKEN",
    "GITHUB_TOKEN_BACKUP",
    "GITHUB_REPO",
    "GITHUB_WORKFLOW_BRANCH",
    "BUILDKITE_API_TOKEN",
)
GITHUB = """
[launchers.actions]
kind = "github"
[launchers.actions.devices.H100]
label = "NVIDIA"
[[devices]]
name = "H100"
vendor = "nvidia"
launcher = "actions"
[[devices]]
name = "MI300"
vendor = "amd"
launcher = "actions"
"""
BUILDKITE = """
[launchers.agents]
kind = "buildkite"
organization = "lab"
pipeline = "kernels"
[launchers.agents.devices.H100]
queues = ["nvidia-h100-0", "nvidia-h100-1"]
[[devices]]
name = "H100"
vendor = "nvidia"
launcher = "agents"
"""


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def settings(text: str) -> Settings:
    Path("kernelbot.toml").write_text(text)
    return read_settings()


def place(config: Settings, name: str) -> LauncherPlace:
    return LauncherPlace(
        name,
        config.device_configs(),
        Path("x"),
        SandboxMode.REQUIRED,
        build,
        environment=config.launcher_environment(),
    )


def test_github_is_told_by_file_and_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_secret")
    monkeypatch.setenv("GITHUB_REPO", "lab/kernels")
    Path(".env").write_text("GITHUB_TOKEN_BACKUP=ghp_more\nGITHUB_WORKFLOW_BRANCH=next\n")
    config = settings(GITHUB)
    table = config.launchers["actions"]
    assert isinstance(table, GithubTable)
    made = table.settings(place(config, "actions"))
    assert (made.repo, made.branch, made.tokens) == (
        "lab/kernels",
        "next",
        ("ghp_secret", "ghp_more"),
    )
    assert made.devices == {
        "H100": GithubDevice("NVIDIA", "kernelbot-nvidia.yml"),
        "MI300": GithubDevice("MI300", "kernelbot-amd.yml"),
    }
    assert isinstance(launchers(config)["actions"], GithubLauncher)
    shown = repr(config) + repr(made) + repr(place(config, "actions"))
    assert "ghp_" not in shown


def test_a_table_has_priority_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_secret")
    monkeypatch.setenv("GITHUB_REPO", "lab/kernels")
    config = settings(GITHUB.replace('"github"', '"github"\nrepo = "my/own"\nbranch = "dev"'))
    table = config.launchers["actions"]
    assert isinstance(table, GithubTable)
    made = table.settings(place(config, "actions"))
    assert (made.repo, made.branch) == ("my/own", "dev")


@pytest.mark.parametrize(
    ("token", "repo", "text", "said"),
    [
        (None, "a/b", GITHUB, "GITHUB_TOKEN is not set, and launcher 'actions' needs it"),
        ("", "a/b", GITHUB, "GITHUB_TOKEN is not set"),
        ("a b", "a/b", GITHUB, "GITHUB_TOKEN is no token"),
        ("a\nX: y", "a/b", GITHUB, "GITHUB_TOKEN is no token"),
        ("ä", "a/b", GITHUB, "GITHUB_TOKEN is no token"),
        ("t", None, GITHUB, "actions.repo: neither it nor GITHUB_REPO names"),
        ("t", "../b", GITHUB, "actions.repo: neither"),
        ("t", "a/b?c", GITHUB, "actions.repo: neither"),
        ("t", "a/b", GITHUB.replace("devices.H100", "devices.X"), "devices.X: no device of this"),
        (
            "t",
            "a/b",
            GITHUB.replace('"nvidia"', '"cpu"'),
            "devices.H100.workflow: is missing: a CPU",
        ),
        ("t", "a/b", GITHUB.replace('"NVIDIA"', '"a\'; echo"'), "devices.H100.label"),
        ("t", "a/b", GITHUB.replace("label =", "lable ="), "lable: isn't known"),
    ],
)
def test_what_is_wrong_with_github_is_named(
    token: str | None, repo: str | None, text: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if token is not None:
        monkeypatch.setenv("GITHUB_TOKEN", token)
    if repo is not None:
        monkeypatch.setenv("GITHUB_REPO", repo)
    with pytest.raises(UserError, match=said) as caught:
        launchers(settings(text))
    assert token is None or len(token) < 3 or token not in str(caught.value)


def test_buildkite_is_told_by_file_and_environment() -> None:
    Path(".env").write_text("BUILDKITE_API_TOKEN=bkua_secret\n")
    config = settings(BUILDKITE)
    table = config.launchers["agents"]
    assert isinstance(table, BuildkiteTable)
    made = table.settings(place(config, "agents"))
    assert (made.organization, made.pipeline, made.token) == ("lab", "kernels", "bkua_secret")
    assert made.queues == {"H100": ("nvidia-h100-0", "nvidia-h100-1")}
    assert isinstance(launchers(config)["agents"], BuildkiteLauncher)
    assert "bkua_" not in repr(config) + repr(made)


@pytest.mark.parametrize(
    ("token", "text", "said"),
    [
        (None, BUILDKITE, "BUILDKITE_API_TOKEN is not set"),
        ("a b", BUILDKITE, "BUILDKITE_API_TOKEN is no token"),
        ("t", BUILDKITE.replace("nvidia-h100-1", "nvidia-h100"), "devices.H100.queues"),
        ("t", BUILDKITE.replace("nvidia-h100-1", "NVIDIA-H100-1"), "devices.H100.queues"),
        ("t", BUILDKITE.replace("nvidia-h100-1", "a'; echo-x-1"), "devices.H100.queues"),
        (
            "t",
            BUILDKITE.replace('queues = ["nvidia-h100-0", "nvidia-h100-1"]', "queues = []"),
            "devices.H100.queues",
        ),
        ("t", BUILDKITE.replace("devices.H100", "devices.X"), "devices.X: no device of this name"),
        ("t", BUILDKITE.replace('"lab"', '"../lab"'), "organization"),
        (
            "t",
            BUILDKITE + '[[devices]]\nname = "B200"\nlauncher = "agents"\n',
            "devices.B200.queues: is missing",
        ),
    ],
)
def test_what_is_wrong_with_buildkite_is_named(
    token: str | None, text: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if token is not None:
        monkeypatch.setenv("BUILDKITE_API_TOKEN", token)
    with pytest.raises(UserError, match=said):
        launchers(settings(text))


def test_a_build_may_run_while_its_step_waits() -> None:
    Path(".env").write_text("BUILDKITE_API_TOKEN=bkua_secret\n")
    config = settings(BUILDKITE)
    table = config.launchers["agents"]
    assert isinstance(table, BuildkiteTable)
    traits = table.settings(place(config, "agents")).traits
    assert 3600 + traits.wait_s == traits.room_s


def test_a_launcher_that_no_device_names_needs_no_token() -> None:
    config = settings('[launchers.actions]\nkind = "github"\n')
    assert list(launchers(config)) == ["local"]
    assert config.devices == (DeviceSettings(name="CPU"),)
    assert config.devices[0].vendor == Vendor.CPU
