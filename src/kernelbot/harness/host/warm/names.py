"""Which warm judge is ours: the one that would judge exactly as a new one."""

import hashlib
import json
import os
import resource
import sys
from pathlib import Path

from kernelbot.harness.archive import sources_stamp
from kernelbot.protocol.environment import passed_on

_LENGTH = 24
_NAMESPACES = ("mnt", "net", "pid", "user")
_RIGHTS = ("Uid", "Gid", "Groups", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp")
_LIMITS = tuple(name for name in dir(resource) if name.startswith("RLIMIT_"))


def judge_name() -> str:
    """A name for everything that a judge's processes inherit or load, other than the job: the
    harness's files, Python, the environment that is passed on, processors, priority, limits,
    rights and namespaces. An upgraded package, or another GPU in CUDA_VISIBLE_DEVICES, is
    another judge."""
    parts = [
        sources_stamp(),
        sys.executable,
        sys.version,
        sorted(environment().items()),
        sorted(os.sched_getaffinity(0)),
        os.getpriority(os.PRIO_PROCESS, 0),
        [resource.getrlimit(getattr(resource, name)) for name in _LIMITS],
        [_namespace(name) for name in _NAMESPACES],
        [line for line in _status() if line.partition(":")[0] in _RIGHTS],
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:_LENGTH]


def environment() -> dict[str, str]:
    """What a warm judge is started with. It works in another folder, so that it keeps none busy:
    the folders of PYTHONPATH are absolute."""
    kept = passed_on(os.environ)
    if paths := kept.get("PYTHONPATH"):
        absolute = (str(Path(path).absolute()) for path in paths.split(os.pathsep) if path)
        kept["PYTHONPATH"] = os.pathsep.join(absolute)
    return kept


def _status() -> list[str]:
    return Path("/proc/self/status").read_text().splitlines()


def _namespace(name: str) -> str:
    try:
        return str(Path("/proc/self/ns", name).readlink())
    except OSError:
        return ""
