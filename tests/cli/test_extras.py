"""The commands that need more than a client."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kernelbot.cli import extras
from kernelbot.cli.errors import USAGE, report_error
from kernelbot.cli.extras import Extra
from kernelbot.domain.errors import UserError
from kernelbot.platform.distribution import install_command


@pytest.fixture(autouse=True)
def _nothing_is_installed_or_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("KERNELBOT_URL", "POPCORN_API_URL"):
        monkeypatch.delenv(name, raising=False)


def hint(extra: Extra) -> str:
    with pytest.raises(UserError) as caught:
        extras.require_extra(extra)
    assert USAGE == report_error(caught.value, as_json=True)
    return caught.value.hint


@pytest.mark.parametrize("extra", ["judge", "server", "discord", "mcp", "verify"])
def test_a_missing_extra_comes_from_the_server_that_is_used(
    monkeypatch: pytest.MonkeyPatch, extra: Extra
) -> None:
    monkeypatch.setenv("KERNELBOT_URL", "https://kernels.example/")
    command = install_command("https://kernels.example", extra)
    assert f"Install it: `{command}`." == hint(extra)


def test_without_a_server_it_comes_from_a_checkout() -> None:
    assert "Install it: in a checkout, `pip install '.[judge]'`." == hint("judge")


def test_a_broken_configuration_hides_no_hint(tmp_path: Path) -> None:
    (tmp_path / "kernelbot").mkdir()
    (tmp_path / "kernelbot/config.toml").write_text("[")
    assert "Install it: in a checkout, `pip install '.[judge]'`." == hint("judge")


@pytest.mark.parametrize(("extra", "needs_more"), [("judge", True), ("mcp", False)])
def test_a_client_lacks_what_judges_even_if_all_that_needs_is_there(
    monkeypatch: pytest.MonkeyPatch, extra: Extra, needs_more: bool
) -> None:
    there = {None: None} | dict.fromkeys(["numpy", "structlog", "mcp"], object())
    monkeypatch.setattr(extras, "find_spec", lambda name: there.get(name))
    assert needs_more == is_missing(extra)


def is_missing(extra: Extra) -> bool:
    try:
        extras.require_extra(extra)
    except UserError:
        return True
    return False


_WITHOUT_A_SERVERS_PACKAGES = """
import sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in sys.argv[1].split(","):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
from kernelbot.cli.app import run
sys.argv[1:] = sys.argv[2:]
sys.exit(run())
"""


# Each run has test_a_bare_interpreter_judges_with_it (harness/test_archive.py)
@pytest.mark.exhaustive
def test_a_file_is_judged_without_a_servers_packages(tmp_path: Path) -> None:
    """The extra `judge` brings none of them."""
    missing = set(extras._PACKAGES["server"]) - set(extras._PACKAGES["judge"])
    problem = Path(__file__).parents[2] / "examples" / "identity_np"
    command = [sys.executable, "-P", "-c", _WITHOUT_A_SERVERS_PACKAGES, ",".join(sorted(missing))]
    said = subprocess.run(
        [*command, "run", str(problem), str(problem / "submission.py"), "--mode", "test"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=100,
        check=False,
        env={**os.environ, "KERNELBOT_COLD": "1"},
    )
    assert (0, True) == (said.returncode, "accepted" in said.stdout), said.stderr
