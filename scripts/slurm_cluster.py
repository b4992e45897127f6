"""A real Slurm on this machine: one node, two fake GPUs, on loopback alone, for a test session."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from scripts.ports import free_ports

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "sinfo")
ADVICE = (
    "Slurm isn't installed, or not all of it: {missing} can't be found. Run scripts/system-packages"
    " (on Debian and Ubuntu: apt-get install slurmctld slurmd slurm-client munge)."
)
_READY_S = 60.0
_CONFIG = """\
ClusterName=probe
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={work}/run/munge.sock
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={work}/ctld
SlurmdSpoolDir={work}/d
SlurmctldPidFile={work}/run/c.pid
SlurmdPidFile={work}/run/d.pid
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmctldTimeout=5
SlurmdTimeout=30
MessageTimeout=5
KillWait=2
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
ReturnToService=2
MpiDefault=none
SwitchType=switch/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
GresTypes=gpu
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=2000 Gres=gpu:h100:2 State=UNKNOWN
PartitionName=gpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class SlurmCluster:
    """Controller, node and munge of its own, below one folder."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self.node = socket.gethostname().split(".")[0]
        self.environment = {**os.environ, "SLURM_CONF": str(work / "slurm.conf")}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        """Write the configuration and start all three. Raises `RuntimeError` with the logs."""
        for name in ("run", "log", "ctld", "d", "jobs"):
            (self.work / name).mkdir(mode=0o755)
        (self.work / "munge.key").write_bytes(os.urandom(1024))
        (self.work / "munge.key").chmod(0o400)
        for number in range(2):  # CUDA_VISIBLE_DEVICES stays empty unless these are devices
            os.mknod(self.work / f"fakegpu{number}", 0o020666, os.makedev(1, 3))
        ports = free_ports(2)
        config = _CONFIG.format(
            host=self.node, work=self.work, controller_port=ports[0], node_port=ports[1]
        )
        (self.work / "slurm.conf").write_text(config)
        if lacks_systemd():
            (self.work / "cgroup.conf").write_text("CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\n")
        gpus = f"NodeName={self.node} Name=gpu Type=h100 File={self.work}/fakegpu[0-1]"
        (self.work / "gres.conf").write_text(f"AutoDetect=off\n{gpus}\n")
        self._start_munge()
        self.start_controller()
        self._run("slurmd", "-D", "-f", str(self.work / "slurm.conf"), "-N", self.node)
        self._until(lambda: "idle" in self.run("sinfo", "-h", "-o", "%T").stdout)

    def _start_munge(self) -> None:
        run = self.work / "run"
        self._run(
            "munged",
            "--foreground",
            "--force",
            f"--key-file={self.work}/munge.key",
            f"--socket={run}/munge.sock",
            f"--pid-file={run}/munged.pid",
            f"--log-file={self.work}/log/munged.log",
            f"--seed-file={run}/munge.seed",
        )
        self._until((run / "munge.sock").exists)

    def start_controller(self) -> None:
        """As after `stop_controller`."""
        self._run("slurmctld", "-D", "-f", str(self.work / "slurm.conf"))
        self._until(lambda: "UP" in self.run("scontrol", "ping").stdout)

    def stop_controller(self) -> None:
        """It saves its state, as at an upgrade."""
        self._end("slurmctld")

    def stop(self) -> None:
        """Nothing is left running."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.run("scancel", "--user=root", "--signal=KILL", "--full", timeout_s=5)
        for name in reversed(list(self._processes)):
            self._end(name)

    def run(self, *command: str, timeout_s: float = 20.0) -> subprocess.CompletedProcess[str]:
        """One of Slurm's commands."""
        return subprocess.run(
            command,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    @contextlib.contextmanager
    def reached(self) -> Iterator[None]:
        """This process and what it starts use this cluster."""
        before = os.environ.get("SLURM_CONF")
        os.environ["SLURM_CONF"] = self.environment["SLURM_CONF"]
        try:
            yield
        finally:
            del os.environ["SLURM_CONF"]
            if before is not None:
                os.environ["SLURM_CONF"] = before

    def cancel_all(self) -> None:
        """Return when no job is left that could run."""
        self.run("scancel", "--user=root")
        self._until(lambda: not self.run("squeue", "--noheader").stdout.strip())

    def script(self, *lines: str, options: Sequence[str] = ()) -> str:
        """Submit a job of these lines; its id."""
        text = "\n".join(["#!/bin/sh", *lines, ""])
        ended = subprocess.run(
            ["sbatch", "--parsable", "--output=/dev/null", *options],
            input=text,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
        return ended.stdout.strip()

    def _run(self, *command: str) -> None:
        with (self.work / "log" / f"{command[0]}.out").open("ab") as log:
            program = shutil.which(command[0], path=_search_path())
            assert program is not None, "looked for at the start"
            self._processes[command[0]] = subprocess.Popen(
                (program, *command[1:]),
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _end(self, name: str) -> None:
        process = self._processes.pop(name)
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        with contextlib.suppress(ProcessLookupError):  # a munged of another session has its own
            os.killpg(process.pid, signal.SIGKILL)

    def _until(self, condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + _READY_S
        while time.monotonic() < deadline:
            with contextlib.suppress(subprocess.TimeoutExpired):
                if condition():
                    return
            time.sleep(0.05)
        logs = [
            f"--- {path.name}\n{path.read_text(errors='replace')[-2000:]}"
            for path in sorted((self.work / "log").iterdir())
        ]
        raise RuntimeError("Slurm didn't get ready.\n" + "\n".join(logs))


@contextlib.contextmanager
def slurm_cluster() -> Iterator[SlurmCluster]:
    """A cluster while the block runs. Raises `FileNotFoundError` with advice if it isn't here."""
    missing = [name for name in PROGRAMS if shutil.which(name, path=_search_path()) is None]
    if missing:
        raise FileNotFoundError(ADVICE.format(missing=", ".join(missing)))
    # A short path: a socket's may have 107 characters.
    work = Path(tempfile.mkdtemp(prefix="kernelbot-slurm-"))
    work.chmod(0o755)
    cluster = SlurmCluster(work)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(work, ignore_errors=True)


def lacks_systemd(root: Path = Path("/")) -> bool:
    """Whether control groups are of version 2, and there is no systemd, which slurmd otherwise asks
    for one and doesn't start without."""
    second = (root / "sys/fs/cgroup/cgroup.controllers").exists()
    return second and not (root / "run/systemd/system").exists()


def _search_path() -> str:
    return os.environ.get("PATH", "") + os.pathsep + "/usr/sbin" + os.pathsep + "/sbin"
