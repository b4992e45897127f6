"""The outer sandbox's command line: bubblewrap around a zygote, as an unprivileged user.

Started by root, the command first makes a private mount namespace in which everything the sandbox
needs is bound to a place that the unprivileged user can reach (an interpreter may live under
/root, a checkout in a private temporary folder), then drops to that user, then starts bubblewrap.
"""

import os
import shlex
import shutil
import site
import stat
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelbot.harness.inside.machine_wide import counting_files, counting_folders
from kernelbot.harness.inside.own_folders import inside, ways_back
from kernelbot.harness.inside.precompiled import FOLDER as PRECOMPILED
from kernelbot.harness.words.sandbox import SandboxUnavailable, ZygoteConfig
from kernelbot.protocol.environment import passed_on

OUTSIDE_UID = 60717
"""Nobody's account: in a range that systems leave free, and below 65536, so that containers with a
user namespace of their own have it too. Not `nobody`, which other programs run as."""
_UID_SETTING = "KERNELBOT_SANDBOX_UID"
INSIDE_UID = 1000
OPEN_FILES = 65536
"""The zygote's limit. Descriptors under way in sockets are counted by user, those of all runners
together where these have no users of their own, and held against their sender's limit: that of the
zygote and its inits lies well above what a runner may have."""
HARNESS_ROOT = "/harness"
_CHECKS = "kernelbot_check"
_STAGES = ("/mnt", "/media", "/srv", "/opt")
_NSIGHT = Path("/opt/nvidia/nsight-compute")
"""Where distributions' packages put it, by version; the toolkit's `ncu` only leads here."""
_COVERED_BY_VENDORS = "/proc/driver/nvidia"
"""NVIDIA's container runtime mounts over it; Linux forbids a new /proc as long as that mount hides
something. In our private mount namespace it is unmounted."""
_TOOLS = ("bwrap",)
_ROOT_TOOLS = ("unshare", "setpriv", "mount")
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_ETC_FILES = {
    "passwd": f"runner:x:{INSIDE_UID}:{INSIDE_UID}:runner:/box:/bin/sh\n",
    "group": f"runner:x:{INSIDE_UID}:\n",
    "hosts": "127.0.0.1 localhost runner\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
_ETC_READ_ONLY = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
_TERMINALS = "/dev/pts"
"""Covered: all runners would share them, and what is written into one is read by a thread of the
kernel's, on any processor, also while its runner is frozen."""
_SYSTEM_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_SYSTEM = Path("/sys/devices/system")
_SYS_READ_ONLY = (f"{_SYSTEM}/cpu", f"{_SYSTEM}/node")


@dataclass(frozen=True)
class Bind:
    """A read-only view of `source` at `target`."""

    source: str
    target: str


def clean_environment(config: ZygoteConfig, *, isolated: bool = True) -> dict[str, str]:
    """All that a runner finds in its environment."""
    view = inside if isolated else str
    roots = list(dict.fromkeys(_toolchain_roots()))
    toolkits = [view(str(root)) for root in roots if (root / "nvvm").is_dir()]
    places = [view(sys.prefix) + "/bin", "/usr/local/bin", "/usr/bin", "/bin"]
    places += [view(str(root)) + "/bin" for root in roots]
    libraries = ":".join(map(view, config.libraries))
    for_gpu = config.devices or config.builds_for_gpu
    return {
        "PATH": ":".join(places),
        **({"CUDA_HOME": toolkits[0]} if toolkits and for_gpu else {}),
        **({"LD_LIBRARY_PATH": libraries} if libraries else {}),
        "HOME": "/box",
        "TMPDIR": "/tmp",  # noqa: S108 - private to each runner
        "USER": "runner",
        "LOGNAME": "runner",
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        **config.env,
    }


def harness_binds() -> list[Bind]:
    """Our own code for the inside: the archive, or the packages `protocol` and `harness`."""
    package = Path(__file__).parents[2]
    if package.parent.is_file():
        return [Bind(str(package.parent), f"{HARNESS_ROOT}/harness.pyz")]
    inside = f"{HARNESS_ROOT}/{package.name}"
    parts = ("__init__.py", "protocol", "harness")
    checks = package.parent / _CHECKS  # what references may import
    return [
        *(Bind(str(package / part), f"{inside}/{part}") for part in parts),
        Bind(str(checks), f"{HARNESS_ROOT}/{_CHECKS}"),
    ]


def harness_path(*, isolated: bool) -> str:
    """What to put on `sys.path` so that `kernelbot.harness` is found."""
    root = Path(__file__).parents[3]
    if not isolated:
        return str(root)
    return f"{HARNESS_ROOT}/harness.pyz" if root.is_file() else HARNESS_ROOT


def interpreter_binds() -> list[Bind]:
    """The interpreter, its packages and the toolchains, where they aren't under /usr."""
    paths = [sys.base_prefix, sys.prefix, *site.getsitepackages()]
    paths += [os.path.realpath(path) for path in (sys.base_prefix, sys.prefix)]
    paths += [str(root) for root in (*_toolchain_roots(), _NSIGHT)]
    never = {Path("/"), Path("/root"), Path("/home"), Path.home()}
    chosen: list[str] = []
    for path in sorted(set(paths), key=len):
        covered = any(Path(path).is_relative_to(root) for root in ("/usr", *chosen))
        if not covered and Path(path) not in never and Path(path).exists():
            chosen.append(path)
    return [Bind(path, inside(path)) for path in chosen]


def installed_program(name: str) -> str | None:
    """Where a program is that the sandbox shows: in a toolkit's folder, or on PATH."""
    places = [str(root / "bin") for root in _toolchain_roots()]
    places += [str(folder) for folder in sorted(_NSIGHT.glob("*"), reverse=True)]
    return shutil.which(name, path=os.pathsep.join([*places, _search_path()]))


def _toolchain_roots() -> list[Path]:
    """Installed GPU toolkits. A mere wrapper in somebody's folder must not open that folder."""
    candidates = [
        Path(os.environ.get("ROCM_PATH", "/opt/rocm")),
        Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")),
    ]
    nvcc = shutil.which("nvcc")
    if nvcc is not None:
        candidates.append(Path(nvcc).resolve().parents[1])
    candidates += _packaged_toolkits()
    marks = ("nvvm", "include/cuda.h", "amdgcn")
    return [root.resolve() for root in candidates if any((root / mark).exists() for mark in marks)]


def _packaged_toolkits() -> list[Path]:
    """Where the package index's nvcc is, the newest first: the extra `preflight`."""
    folders = (Path(packages, "nvidia") for packages in site.getsitepackages())
    found = [path for folder in folders for path in folder.glob("cu[0-9]*")]
    return sorted((path for path in found if (path / "bin/nvcc").exists()), reverse=True)


def check_tools(search_path: str | None = None) -> None:
    """Raise `SandboxUnavailable` with what to install, if something is missing.

    `search_path` is where to look (None: PATH and the system's folders).
    """
    if sys.platform != "linux":
        raise SandboxUnavailable("The sandbox needs Linux; judge with --sandbox none elsewhere.")
    needed = _TOOLS + (_ROOT_TOOLS if os.geteuid() == 0 else ())
    places = _search_path() if search_path is None else search_path
    missing = [tool for tool in needed if shutil.which(tool, path=places) is None]
    if "bwrap" in missing:
        raise SandboxUnavailable(
            "The sandbox needs bubblewrap: install the package `bubblewrap` "
            "(apt install bubblewrap, dnf install bubblewrap)."
        )
    if missing:
        raise SandboxUnavailable(
            f"The sandbox needs {', '.join(missing)}: install the package `util-linux`."
        )


def outside_uid() -> int:
    """The user that sandboxes belong to outside: ours, or where we are root one of their own.

    Raises `SandboxUnavailable` if the setting can't be used.
    """
    if os.geteuid() != 0:
        return os.geteuid()
    text = os.environ.get(_UID_SETTING, str(OUTSIDE_UID))
    if not text.isdecimal() or not 0 < int(text) < 2**32 - 1:
        raise SandboxUnavailable(f"{_UID_SETTING} is {text!r}; it must be a user id above 0.")
    return int(text)


def starting_environment() -> dict[str, str]:
    """What of ours goes on, with a PATH that leads to every tool that `check_tools` finds.

    Bubblewrap keeps it for as long as the sandbox lives, where others of its user could read it.
    """
    return {**passed_on(os.environ), "PATH": _search_path()}


def _search_path() -> str:
    return os.environ.get("PATH", "") + os.pathsep + _SYSTEM_PATH


def build_command(
    config: ZygoteConfig,
    inner: list[str],
    data_fds: dict[str, int],
    mapping: Sequence[str] = (),
) -> list[str]:
    """The whole command that runs `inner` in the outer sandbox.

    `data_fds` maps names in /etc to descriptors holding their content (see `open_etc_files`).
    `mapping`: arguments by which somebody else maps its users; empty: bubblewrap does.
    """
    bwrap = shutil.which("bwrap", path=_search_path()) or "bwrap"
    binds = [*interpreter_binds(), *harness_binds()]
    binds += [Bind(folder, inside(folder)) for folder in config.folders]
    if config.precompiled:
        binds.append(Bind(config.precompiled, PRECOMPILED))
    if os.geteuid() != 0:
        return [bwrap, *_bwrap_arguments(config, binds, data_fds), *inner]
    uid = outside_uid()
    stage = _choose_stage(binds)
    staged = [Bind(f"{stage}/{i}", bind.target) for i, bind in enumerate(binds)]
    # What bubblewrap makes of data only its own user can read, and runners are others.
    etc = {f"{stage}/etc-{name}": fd for name, fd in data_fds.items()}
    shown = [*staged, *(Bind(path, f"/etc/{path.rpartition('-')[2]}") for path in etc)]
    drop = ["setpriv", f"--reuid={uid}", f"--regid={uid}", _groups_kept(config.devices)]
    drop += ["--no-new-privs", bwrap, *mapping, *_bwrap_arguments(config, shown, {}), *inner]
    lines = ["set -eu", f"ulimit -n {OPEN_FILES} 2>/dev/null || :"]
    lines += [f"mount -t tmpfs -o mode=0755 kernelbot {stage}"]
    for bind, view in zip(binds, staged, strict=True):
        make = "touch" if Path(bind.source).is_file() else "mkdir"
        lines.append(f"{make} {view.source}")
        lines.append(f"mount --bind {shlex.quote(bind.source)} {view.source}")
    lines += [f"cat /proc/self/fd/{fd} >{path}; chmod 444 {path}" for path, fd in etc.items()]
    if config.devices:
        lines.append(f"umount -R {_COVERED_BY_VENDORS} 2>/dev/null || :")
    lines.append("cd /")
    lines.append("exec " + shlex.join(drop))
    return ["unshare", "--mount", "sh", "-c", "\n".join(lines)]


def _groups_kept(devices: tuple[str, ...]) -> str:
    """The groups of those that root may use that a runner keeps: without them it can't open its own
    devices' files (`render` and `video`, of AMD's)."""
    found = [path.stat() for path in map(Path, devices) if path.is_char_device()]
    gids = {status.st_gid for status in found if not status.st_mode & stat.S_IWOTH}
    kept = ",".join(str(gid) for gid in sorted(gids - {0}))
    return f"--groups={kept}" if kept else "--clear-groups"


def _choose_stage(binds: list[Bind]) -> str:
    """A folder to cover in the private mount namespace that nothing we need lies under."""
    for stage in _STAGES:
        used = any(Path(bind.source).is_relative_to(stage) for bind in binds)
        if Path(stage).is_dir() and not used:
            return stage
    raise SandboxUnavailable(f"The sandbox needs one of the folders {', '.join(_STAGES)}.")


def _bwrap_arguments(
    config: ZygoteConfig, binds: list[Bind], data_fds: dict[str, int]
) -> list[str]:
    arguments = ["--unshare-all", "--unshare-user", "--uid", str(INSIDE_UID)]
    arguments += ["--gid", str(INSIDE_UID), "--cap-add", "ALL", "--hostname", "runner"]
    arguments += _folders_above(
        [*_ETC_READ_ONLY, *_SYS_READ_ONLY, *(bind.target for bind in binds)]
    )
    arguments += ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM_FOLDERS:
        arguments += _system_folder(name)
    for bind in binds:  # before what is covered: a GPU's folders are all of /sys/devices
        arguments += ["--ro-bind", bind.source, bind.target]
    for path in (*_ETC_READ_ONLY, *_SYS_READ_ONLY):
        arguments += ["--ro-bind-try", path, path]
    for folder in counting_folders(_SYSTEM):
        arguments += ["--tmpfs", str(folder), "--remount-ro", str(folder)]
    for file in counting_files(_SYSTEM):
        arguments += ["--ro-bind", os.devnull, str(file)]
    for name, fd in data_fds.items():
        arguments += ["--ro-bind-data", str(fd), f"/etc/{name}"]
    arguments += ["--proc", "/proc", "--dev", "/dev"]
    arguments += ["--tmpfs", _TERMINALS, "--remount-ro", _TERMINALS]
    arguments += _folders_above(config.devices)
    for device in config.devices:
        arguments += ["--dev-bind", device, device]
    arguments += ["--dir", "/box", "--tmpfs", "/tmp"]  # noqa: S108 - runners cover both
    for link, target in ways_back().items():
        arguments += ["--symlink", target, link]
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/", "--clearenv"]
    for key, value in clean_environment(config).items():
        arguments += ["--setenv", key, value]
    return [*arguments, "--"]


def _folders_above(targets: Iterable[str]) -> list[str]:
    """Makes all folders above what is shown that the sandbox doesn't have from the system. Some
    bubblewrap would make for its own user alone, and runners are others."""
    above = {parent for target in targets for parent in Path(target).parents[:-1]}
    theirs = {"usr", *_SYSTEM_FOLDERS}
    made = sorted(str(folder) for folder in above if folder.parts[1] not in theirs)
    return [argument for folder in made for argument in ("--dir", folder)]


def _system_folder(name: str) -> list[str]:
    path = Path("/", name)
    if path.is_symlink():
        return ["--symlink", str(path.readlink()), str(path)]
    return ["--ro-bind", str(path), str(path)] if path.is_dir() else []


def open_etc_files() -> dict[str, int]:
    """Descriptors with the content of the sandbox's own /etc, by name; the caller closes them."""
    fds: dict[str, int] = {}
    for name, text in _ETC_FILES.items():
        fd = os.memfd_create(name, 0)
        os.fchmod(fd, stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH)
        os.write(fd, text.encode())
        os.lseek(fd, 0, os.SEEK_SET)
        fds[name] = fd
    return fds
