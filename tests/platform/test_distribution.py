"""What people are told to install is ours: the package's name, and where it is."""

import tomllib
from pathlib import Path

import pytest

from kernelbot import __version__
from kernelbot.platform.distribution import (
    CLIENT_VERSION,
    DISTRIBUTION,
    checkout_command,
    install_command,
    wheel_name,
    wheel_url,
)

ROOT = Path(__file__).resolve().parents[2]


def test_the_package_is_built_under_this_name_and_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (DISTRIBUTION, __version__) == (project["name"], project["version"])


def test_extras_that_need_others_name_this_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [one for names in project["optional-dependencies"].values() for one in names]
    named = {one.partition("[")[0] for one in extras if one.startswith("kernelbot")}
    assert {DISTRIBUTION} == named


@pytest.mark.parametrize("server", ["https://kernels.example", "https://kernels.example/"])
def test_a_client_is_installed_from_its_server(server: str) -> None:
    url = f"https://kernels.example/client/{wheel_name(CLIENT_VERSION)}"
    assert url == wheel_url(server)
    assert f"pip install {url}" == install_command(server)


def test_what_judges_comes_with_the_whole_package() -> None:
    url = f"https://kernels.example/client/{wheel_name()}"
    command = install_command("https://kernels.example", "judge")
    assert f"pip install 'kernelbot-platform[judge] @ {url}'" == command


@pytest.mark.parametrize("extra", ["mcp", "verify"])
def test_extras_of_the_client_leave_it_the_client(extra: str) -> None:
    url = f"https://kernels.example/client/{wheel_name(CLIENT_VERSION)}"
    assert url == wheel_url("https://kernels.example", extra)


def test_a_hostile_address_is_one_word_for_a_shell() -> None:
    command = install_command("http://a'; echo x; '")
    assert command.startswith("pip install 'http://a'\"'\"'; echo x; '")


def test_a_checkout_is_named_by_its_folder() -> None:
    assert "in a checkout, `pip install '.[judge]'`" == checkout_command("judge")
