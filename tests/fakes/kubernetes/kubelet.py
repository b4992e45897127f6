"""A node: runs a pod's containers, one after the other, as local processes.

A container's files are below a folder of the pod: where its command, or a variable of it, names a
volume's path or the image's, that folder stands in.
"""

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes.kubernetes.facts import Wire
from tests.support.groups import signal_group

ROOT = Path(__file__).parents[3]
_IMAGE = "/opt/kernelbot"
_REAL = frozenset(("/dev/shm",))
_MOST_SAID = 4096


@dataclass(frozen=True)
class Ended:
    """How a container ended."""

    code: int
    message: str


@dataclass
class RunningPod:
    """One pod's folder and processes."""

    folder: Path
    image: Path
    environment: dict[str, str]
    killed: bool = False
    logs: dict[str, Path] = field(default_factory=dict)
    _process: subprocess.Popen[bytes] | None = None

    def prepare(self, pod: Wire, secrets: dict[str, Wire]) -> None:
        """Make its volumes; secrets by name."""
        for volume in pod["spec"]["volumes"]:
            place = self.volume(volume["name"])
            place.mkdir(parents=True)
            for source in volume.get("projected", {}).get("sources", ()):
                for name, text in secrets[source["secret"]["name"]]["stringData"].items():
                    (place / name).write_text(text)

    def volume(self, name: str) -> Path:
        """Its folder."""
        return self.folder / "volumes" / name

    def run(self, container: Wire) -> Ended:
        """To its end."""
        name = container["name"]
        home = self.folder / name
        home.mkdir()
        end = home / "termination-log"
        places = {
            mount["mountPath"]: str(self.volume(mount["name"]))
            for mount in container["volumeMounts"]
            if mount["mountPath"] not in _REAL
        }
        places |= {container.get("terminationMessagePath", "\0"): str(end), _IMAGE: str(self.image)}
        given = {one["name"]: _placed(one["value"], places) for one in container.get("env", ())}
        self.logs[name] = home / "log of the container"
        with self.logs[name].open("wb") as log:
            self._process = subprocess.Popen(
                [_placed(word, places) for word in container["command"]],
                cwd=home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**self.environment, "HOME": str(home), **given},
            )
            if self.killed:
                self.kill()
            code = self._process.wait()
        said = end.read_text("utf-8", "replace")[:_MOST_SAID] if end.exists() else ""
        return Ended(code if code >= 0 else 128 - code, said)

    def kill(self) -> None:
        """All of its processes."""
        self.killed = True
        if self._process is not None:
            signal_group(self._process, signal.SIGKILL)

    def remove(self) -> None:
        """Its files."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _placed(text: str, places: dict[str, str]) -> str:
    for path, place in places.items():
        text = text.replace(path, place)
    return text


def make_image(folder: Path) -> Path:
    """As much of the runner's image as there is of it on this machine: control groups are left
    alone."""
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "deploy" / "runner" / "judge-payload", folder / "judge-payload")
    own_cgroup = folder / "in-own-cgroup"
    own_cgroup.write_text('#!/bin/sh\nexec "$@"\n')
    own_cgroup.chmod(0o755)
    return folder


def environment_of(folder: Path, harness: Path) -> dict[str, str]:
    """What each container of the image begins with."""
    return {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "KERNELBOT_HARNESS": str(harness),
        "FAKE_JUDGED_LOG": str(folder / "judged.log"),
    }
