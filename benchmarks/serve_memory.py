"""Peak memory of `kernelbot serve` and all its processes, idle and while it judges.

Run with `python -m benchmarks.serve_memory [--count N]`. Memory is the proportional set size (PSS):
pages shared by several processes are counted once. Postgres, the sandboxes and the runners count.
"""

import argparse
import tempfile
import threading
import time
from pathlib import Path

from scripts.local_server import LocalServer

from kernelbot.catalog.problem import load_problem
from kernelbot.client import KernelbotClient
from kernelbot.protocol import Mode
from kernelbot.render.table import table
from kernelbot.render.units import size_text

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
IDLE_S = 8.0
EVERY_S = 0.1


class Watch:
    """Samples a server's memory in a thread while the `with` block runs."""

    def __init__(self, server: LocalServer) -> None:
        self.peak_bytes = 0
        self.at_peak: dict[str, tuple[int, int]] = {}
        """By process name: how many, and their memory in bytes, at the peak."""
        self._server = server
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._stop.wait(EVERY_S):
            used = [(p.name, p.memory_bytes) for p in self._server.processes()]
            total = sum(size for _, size in used)
            if total > self.peak_bytes:
                self.peak_bytes = total
                self.at_peak = _by_name(used)


def _by_name(used: list[tuple[str, int]]) -> dict[str, tuple[int, int]]:
    groups: dict[str, tuple[int, int]] = {}
    for name, size in used:
        count, total = groups.get(name, (0, 0))
        groups[name] = (count + 1, total + size)
    return groups


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5)
    count = parser.parse_args().count
    folder = EXAMPLES / "sort_np"
    problem = load_problem(folder).definition
    file = min((folder / "solutions" / "correct").iterdir())
    with tempfile.TemporaryDirectory() as data, LocalServer(Path(data)) as server:
        with Watch(server) as idle:
            time.sleep(IDLE_S)
        with Watch(server) as busy, KernelbotClient.to(server.own_endpoint()) as client:
            board = client.create_board(problem, name=problem.spec.name).name
            ids = [
                client.submit(file.name, file.read_bytes(), board=board, mode=Mode.LEADERBOARD).id
                for _ in range(count)
            ]
            for submission_id in ids:
                for _ in client.events(submission_id):
                    pass
    for title, watch in (("idle", idle), (f"judging {count} ranked submissions", busy)):
        print(f"{title}: peak {size_text(watch.peak_bytes)}\n")
        rows = [
            [name, str(number), size_text(size)]
            for name, (number, size) in sorted(
                watch.at_peak.items(), key=lambda item: item[1][1], reverse=True
            )
        ]
        print(table(("process", "count", "memory"), rows, right=("count", "memory")), end="\n\n")


if __name__ == "__main__":
    main()
