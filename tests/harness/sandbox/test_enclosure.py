import os
import shutil
import stat
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import kernelbot
from kernelbot.harness.inside.own_folders import inside
from kernelbot.harness.sandbox import Zygote
from kernelbot.harness.sandbox.enclosure import (
    OUTSIDE_UID,
    build_command,
    check_tools,
    interpreter_binds,
    outside_uid,
)
from kernelbot.harness.words.sandbox import Flavour, SandboxUnavailable, ZygoteConfig


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
    for prefix in map(inside, (sys.prefix, sys.base_prefix)):
        assert any(Path(prefix).is_relative_to(target) for target in targets)


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm", "/box"])
def test_what_lies_where_runners_have_their_own_folders_is_shown_elsewhere(folder: str) -> None:
    assert inside(f"{folder}/clone/.venv") == f"/interpreter{folder}/clone/.venv"


def test_an_interpreter_elsewhere_keeps_its_place() -> None:
    assert inside("/srv/tmp/clone/.venv") == "/srv/tmp/clone/.venv"


def test_an_interpreter_under_tmp_judges(tmp_path: Path) -> None:
    """A checkout in a temporary folder, as continuous integration has it, with its own .venv."""
    venv.create(tmp_path / ".venv", symlinks=True)
    assert _probed_by(tmp_path / ".venv") == "bubblewrap"


@pytest.mark.exhaustive
def test_an_interpreter_whose_installation_is_under_tmp_judges(tmp_path: Path) -> None:
    system = Path("/usr/bin/python3").resolve()
    ours = Path(sys.executable).resolve().name
    if system.name != ours or not Path("/usr/lib", ours).is_dir():
        pytest.skip("no interpreter of our version here that is one file and can be copied")
    base = tmp_path / "base"
    left_out = shutil.ignore_patterns("*-packages", "test", "__pycache__", "idlelib", "*.a")
    shutil.copytree(f"/usr/lib/{system.name}", base / "lib" / system.name, ignore=left_out)
    (base / "bin").mkdir()
    python = shutil.copy(system, base / "bin" / "python3")
    subprocess.run([python, "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True)
    assert _probed_by(tmp_path / ".venv") == "bubblewrap"


def _probed_by(environment: Path) -> str:
    """What the sandbox calls itself when started by the interpreter of a virtual environment."""
    root = Path(kernelbot.__file__).parent.parent
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "from kernelbot.harness.sandbox.probe import probe;"
        "report = probe();"
        "print(report.mode, *report.missing)"
    )
    python = environment / "bin" / "python"
    said = subprocess.run(
        [python, "-I", "-c", program, root], capture_output=True, text=True, check=True
    )
    return said.stdout.split(maxsplit=1)[0]


def test_no_bind_covers_the_root_or_a_home() -> None:
    assert set() == {bind.target for bind in interpreter_binds()} & {"/", "/root", "/home", "/usr"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has anything to drop")
def test_root_is_dropped_before_bubblewrap_starts() -> None:
    command = build_command(ZygoteConfig(Flavour.BARE), ["true"], {})
    script = command[-1]
    assert ["unshare", "--mount", "sh", "-c"] == command[:4]
    assert (
        script.index(f"--reuid={OUTSIDE_UID}")
        < script.index("--no-new-privs")
        < script.index("bwrap")
    )


def test_a_wrapper_named_nvcc_does_not_open_the_folder_it_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvcc").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    assert str(tmp_path) not in {bind.target for bind in interpreter_binds()}


@pytest.mark.exhaustive  # each run has test_an_interpreter_under_tmp_judges
def test_tools_outside_the_path_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    zygote = Zygote.start(ZygoteConfig(Flavour.BARE))
    try:
        zygote.wait_ready(60)
        assert "bubblewrap" == zygote.report().mode
    finally:
        zygote.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root chooses a user")
@pytest.mark.parametrize("setting", ["0", "-1", "nobody", "4294967295", ""])
def test_a_user_that_no_sandbox_can_have_is_refused(
    setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERNELBOT_SANDBOX_UID", setting)
    with pytest.raises(SandboxUnavailable, match="must be a user id above 0"):
        outside_uid()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root chooses a user")
def test_the_sandbox_belongs_to_the_user_that_was_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELBOT_SANDBOX_UID", "61001")
    assert "--reuid=61001 --regid=61001" in build_command(ZygoteConfig(Flavour.BARE), ["a"], {})[-1]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device file and chooses groups")
@pytest.mark.parametrize(
    ("mode", "gid", "expected"),
    [(0o660, 109, "--groups=109"), (0o666, 109, "--clear-groups"), (0o660, 0, "--clear-groups")],
)
def test_the_group_of_a_gpus_file_is_kept_if_it_is_needed(
    tmp_path: Path, mode: int, gid: int, expected: str
) -> None:
    device = tmp_path / "renderD128"
    os.mknod(device, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    device.chmod(mode)
    os.chown(device, 0, gid)
    config = ZygoteConfig(Flavour.BARE, devices=(str(device), "/dev/nosuchdevice"))
    assert f" {expected} " in build_command(config, ["a"], {})[-1]
