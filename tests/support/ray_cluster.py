"""A Ray cluster on this machine: head and nodes are processes of a process of its own."""

import contextlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from scripts.ports import free_port

_STORE_BYTES = 100 << 20


@dataclass
class RayCluster:
    """See `ray_cluster`. Its nodes are as old as the order in which they were added; the head has
    no processors and no GPUs, so that nothing is judged there."""

    process: subprocess.Popen[str]
    judged_log: Path
    address: str = ""
    client_port: int = 0
    """Of its head's server for Ray's client; 0: there is none."""
    newest: int = 0
    """The number of the node that was added last."""

    @property
    def client_address(self) -> str:
        """Where programs that are on no node of it connect."""
        return f"ray://{self.address.partition(':')[0]}:{self.client_port}"

    def add(self, **resources: Any) -> None:
        """A node; returns once it is there."""
        self._do("add", resources)
        self.newest += 1

    def kill(self, number: int) -> None:
        """A node and all that runs on it; 0 is the head."""
        self._do("kill", {"number": number})

    def judged(self) -> list[str]:
        """The jobs that its tasks have begun."""
        return self.judged_log.read_text().split() if self.judged_log.exists() else []

    def _do(self, what: str, arguments: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([what, arguments]) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, (self.judged_log.parent / "log").read_text()[-1000:]
        self.address = json.loads(answer)


@contextlib.contextmanager
def ray_cluster(*, for_clients: bool = False) -> Iterator[RayCluster]:
    """A head alone, until the end of the block; with a server for Ray's client if that is asked
    for. Skips the test if Ray isn't installed."""
    needed = ("ray", "grpc") if for_clients else ("ray",)
    if not all(map(importlib.util.find_spec, needed)):
        pytest.skip("the extra `ray` isn't installed")
    folder = Path(tempfile.mkdtemp(prefix="ray"))  # short: a socket's path has 107 characters
    log = folder / "judged.log"
    (folder / "ray").mkdir()
    environment = {
        **os.environ,
        "FAKE_JUDGED_LOG": str(log),
        "RAY_CLIENT_SERVER_CHECK_CHANNEL_TIMEOUT_S": "240",  # to start for a client: a busy machine
        "RAY_TMPDIR": str(folder),
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    with (folder / "log").open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.ray_cluster"],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment,
        )
    cluster = RayCluster(process, log, client_port=free_port() if for_clients else 0)
    try:
        cluster._do("head", {"ray_client_server_port": cluster.client_port or None})
        yield cluster
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.wait(60)
        process.stdout.close()
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """The process: does what each line says, and answers with the head's address."""
    from ray.cluster_utils import Cluster

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as what a shell starts in the background
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    cluster = Cluster()
    nodes: list[Any] = []
    for line in sys.stdin:
        what, arguments = json.loads(line)
        if what == "head":
            arguments |= {"num_cpus": 0, "num_gpus": 0}
        if what == "kill":
            cluster.remove_node(nodes[arguments["number"]], allow_graceful=False)
        else:
            arguments |= {"object_store_memory": _STORE_BYTES, "include_dashboard": False}
            nodes.append(cluster.add_node(**arguments))
        print(json.dumps(cluster.address), file=out)
    cluster.shutdown()


if __name__ == "__main__":
    main()
