import os
import sys
from pathlib import Path

import pytest

from kernelbot.harness.sandbox import Flavour, SandboxUnavailable, ZygoteConfig
from kernelbot.harness.sandbox.enclosure import build_command, check_tools, interpreter_binds


def test_a_missing_tool_is_named_with_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(SandboxUnavailable, match="install the package `bubblewrap`"):
        check_tools(search_path=str(tmp_path))


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user needs bubblewrap alone")
def test_root_needs_the_tools_to_stop_being_root(tmp_path: Path) -> None:
    (tmp_path / "bwrap").touch(mode=0o755)
    with pytest.raises(SandboxUnavailable, match=r"unshare, setpriv, mount: .*util-linux"):
        check_tools(search_path=str(tmp_path))


def test_the_interpreter_is_bound_where_it_is() -> None:
    targets = [Path(bind.target) for bind in interpreter_binds()] + [Path("/usr")]
    for prefix in (sys.prefix, sys.base_prefix):
        assert any(Path(prefix).is_relative_to(target) for target in targets)


def test_no_bind_covers_the_root_or_a_home() -> None:
    assert set() == {bind.target for bind in interpreter_binds()} & {"/", "/root", "/home", "/usr"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has anything to drop")
def test_root_is_dropped_before_bubblewrap_starts() -> None:
    command = build_command(ZygoteConfig(Flavour.BARE), ["true"], {})
    script = command[-1]
    assert ["unshare", "--mount", "sh", "-c"] == command[:4]
    assert script.index("--reuid=65534") < script.index("--no-new-privs") < script.index("bwrap")


def test_a_wrapper_named_nvcc_does_not_open_the_folder_it_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvcc").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    assert str(tmp_path) not in {bind.target for bind in interpreter_binds()}
