"""No text of ours has anybody install a stranger's package: `kernelbot` belongs to another project
where packages are installed from, and even our own name, alone, is whoever's took it there."""

import re
from pathlib import Path

import pytest

from kernelbot.platform.distribution import CLIENT_VERSION, DISTRIBUTION, wheel_name
from tests.test_repository import text_of, tracked_files

OWN_NAME = "tests/test_installed_names.py"
_WORD = r"(?<![\w./:@=-])['\"]?kernelbot(?![\w/.:]|-(?!platform))"
_HERE = r"(?!-platform(?:\[[\w, -]*\])? @ )"
"""What may come behind the name: where the package is."""
_INSTALLERS = r"(?:pip[x\d.]*|uvx?|conda|mamba|pixi|poetry|pdm|rye|hatch|pipenv|easy_install|brew)"
_VERBS = r"(?:install|add|run|inject|upgrade|download|wheel|sync|tool|with|from)"
STRANGERS = (
    re.compile(rf"\b{_INSTALLERS}\b(?: -\S+)* {_VERBS}\b[^\n&|;`,]*?{_WORD}{_HERE}"),
    re.compile(rf"\b(?:uvx|pipx run)\b[^\n&|;`,]*?{_WORD}{_HERE}"),
    re.compile(r"(?<![\w./-])kernelbot\[[\w, -]+\]"),
    re.compile(r"(?<![\w./-])kernelbot(?:-platform)? ?(?:==|~=|>=|<=|!=|===) ?\d"),
    re.compile(r"(?<![\w./-])kernelbot @ "),
    re.compile(r"\b(?:version|distribution|metadata|requires|files)\(\s*['\"]kernelbot['\"]"),
)
WHEEL = re.compile(r"kernelbot_platform-[^\s'\"`{}]+?\.whl")


def joined(text: str) -> str:
    """Commands that go over several lines, on one."""
    return re.sub(r"\\\n\s*", " ", text)


def strangers_in(text: str) -> list[str]:
    """What would install a package that isn't ours."""
    plain = joined(text)
    return [found[0] for pattern in STRANGERS for found in pattern.finditer(plain)]


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    if not (Path(__file__).parent.parent / ".git").exists():
        pytest.skip("not a git checkout")
    return {str(path): text_of(path) for path in tracked_files() if str(path) != OWN_NAME}


@pytest.mark.exhaustive  # each run has test_every_way_to_a_stranger_is_found
def test_nothing_of_ours_installs_a_strangers_package(texts: dict[str, str]) -> None:
    found = {name: strangers_in(text) for name, text in texts.items()}
    assert {} == {name: said for name, said in found.items() if said}


def test_every_wheel_that_a_text_names_is_the_one_that_servers_have(texts: dict[str, str]) -> None:
    ours = {wheel_name(), wheel_name(CLIENT_VERSION)}
    named = {name: set(WHEEL.findall(text)) - ours for name, text in texts.items()}
    tests = ("tests/platform/downloads/test_service.py",)
    assert {} == {name: other for name, other in named.items() if other and name not in tests}


@pytest.mark.parametrize(
    "text",
    [
        "pip install kernelbot",
        "pip install 'kernelbot[judge]'",
        "sudo pip3 install --upgrade kernelbot",
        "/opt/kernelbot/bin/pip install kernelbot",
        "python3 -m pip install -q kernelbot",
        "pip install \\\n    kernelbot",
        "uv tool install kernelbot",
        "uv pip install kernelbot",
        "uv add kernelbot",
        "uv run --with kernelbot python",
        "uvx kernelbot submit",
        "uvx --from kernelbot kernelbot",
        "pipx install kernelbot",
        "pipx run kernelbot",
        "conda install -c forge kernelbot",
        "poetry add kernelbot",
        f"pip install {DISTRIBUTION}",
        f"uvx --from {DISTRIBUTION} kernelbot",
        f"pip install '{DISTRIBUTION}[judge]'",
        "Install kernelbot[modal].",
        "kernelbot==0.0.2",
        'version("kernelbot")',
        "dependencies = ['kernelbot @ git']",
    ],
)
def test_every_way_to_a_stranger_is_found(text: str) -> None:
    assert [] != strangers_in(text)


@pytest.mark.parametrize(
    "text",
    [
        f"pip install https://kernels.example/client/{wheel_name()}",
        f"pip install '{DISTRIBUTION}[judge] @ https://kernels.example/client/{wheel_name()}'",
        f"uv tool install https://kernels.example/client/{wheel_name()}",
        "sudo /opt/kernelbot/bin/pip install -c constraints.txt '.[server]'",
        "pip install '.[judge]' && kernelbot doctor",
        "pip uninstall kernelbot",
        "uv run pytest tests/kernelbot_check",
    ],
)
def test_what_is_ours_is_no_stranger(text: str) -> None:
    assert [] == strangers_in(text)
