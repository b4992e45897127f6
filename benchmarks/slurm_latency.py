"""From submit to verdict through a Slurm of this machine's own, with a node for each job and with
warm nodes, and through the local launcher.

Run with `python -m benchmarks.slurm_latency [--count N] [--problem DIR] [--mode MODE]`, as root,
with Slurm installed. One submission at a time, in turn on each, on an idle cluster.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from scripts.local_server import LocalServer
from scripts.slurm_cluster import slurm_cluster

from benchmarks.figures import median_and_p95_ms
from benchmarks.latency import EXAMPLES
from kernelbot.catalog.problem import load_problem
from kernelbot.client import KernelbotClient
from kernelbot.protocol import Mode, Verdict
from kernelbot.render.table import table

DEVICES = ("LOCAL", "SLURM", "WARM")
WARM_UP = 2
CONFIG = """\
[launchers.cluster]
kind = "slurm"
work_dir = "{work}"
python = "{python}"

[launchers.warm]
kind = "slurm"
work_dir = "{work}-warm"
python = "{python}"
warm_idle_s = 600

[[devices]]
name = "LOCAL"

[[devices]]
name = "SLURM"
launcher = "cluster"

[[devices]]
name = "WARM"
launcher = "warm"
"""


def one(client: KernelbotClient, board: str, device: str, file: Path, mode: Mode) -> float:
    """Submit and wait: seconds until the verdict."""
    began = time.perf_counter()
    submission = client.submit(
        file.name, file.read_bytes(), board=board, mode=mode, devices=[device]
    )
    for _ in client.events(submission.id):
        pass
    verdict = client.submission(submission.id).verdict
    if verdict is not Verdict.ACCEPTED:
        raise RuntimeError(f"Submission {submission.id} ended as {verdict}.")
    return time.perf_counter() - began


def measure(folder: Path, problem_folder: Path, count: int, mode: Mode) -> dict[str, list[float]]:
    """Seconds by device."""
    problem = load_problem(problem_folder).definition
    file = min((problem_folder / "solutions" / "correct").iterdir())
    config = folder / "kernelbot.toml"
    config.write_text(CONFIG.format(work=folder / "work", python=sys.executable))
    times: dict[str, list[float]] = {device: [] for device in DEVICES}
    with (
        slurm_cluster() as cluster,
        cluster.reached(),
        LocalServer(folder / "server", config=config) as server,
        KernelbotClient.to(server.own_endpoint()) as client,
    ):
        board = client.create_board(problem, name=problem.spec.name, devices=list(DEVICES)).name
        for number in range(WARM_UP + count):
            for device in DEVICES:
                took_s = one(client, board, device, file, mode)
                if number >= WARM_UP:
                    times[device].append(took_s)
    return times


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--problem", type=Path, default=EXAMPLES / "identity_np")
    parser.add_argument("--mode", type=Mode, default=Mode.TEST)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        times = measure(Path(folder), arguments.problem, arguments.count, arguments.mode)
    rows = [[device, *median_and_p95_ms(times[device])] for device in DEVICES]
    for device in DEVICES[1:]:
        between = statistics.median(times[device]) - statistics.median(times["LOCAL"])
        rows.append([f"{device}, beyond LOCAL", f"{between * 1e3:.0f}", ""])
    headers = ("from submit to verdict", "median ms", "95th percentile ms")
    how = f"mode {arguments.mode}, {arguments.count} on each, one at a time"
    print(f"{arguments.problem.name}, {how}:\n")
    print(table(headers, rows, right=headers[1:]))


if __name__ == "__main__":
    main()
