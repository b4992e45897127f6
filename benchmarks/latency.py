"""From submit to verdict through the server: the median and the 95th percentile.

Run with `python -m benchmarks.latency [--count N] [--problem DIR]`. One submission at a time, in
test mode, followed over the event stream as the terminal does it.
"""

import argparse
import tempfile
import time
from pathlib import Path

from scripts.local_server import LocalServer

from benchmarks.figures import median_and_p95_ms
from kernelbot.catalog.problem import load_problem
from kernelbot.client import KernelbotClient
from kernelbot.protocol import Mode, Verdict
from kernelbot.render.table import table

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
WARM_UP = 3


def one(client: KernelbotClient, board: str, file: Path) -> tuple[float, float]:
    """Submit and wait: seconds until it was accepted for judging, and until the verdict."""
    began = time.perf_counter()
    submission = client.submit(file.name, file.read_bytes(), board=board, mode=Mode.TEST)
    taken_s = time.perf_counter() - began
    for _ in client.events(submission.id):
        pass
    verdict = client.submission(submission.id).verdict
    if verdict is not Verdict.ACCEPTED:
        raise RuntimeError(f"Submission {submission.id} ended as {verdict}.")
    return taken_s, time.perf_counter() - began


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--problem", type=Path, default=EXAMPLES / "identity_np")
    arguments = parser.parse_args()
    problem = load_problem(arguments.problem).definition
    file = min((arguments.problem / "solutions" / "correct").iterdir())
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalServer(Path(folder)) as server,
        KernelbotClient.to(server.own_endpoint()) as client,
    ):
        board = client.create_board(problem, name=problem.spec.name).name
        for _ in range(WARM_UP):
            one(client, board, file)
        times = [one(client, board, file) for _ in range(arguments.count)]
    rows = [
        ["submit answered", *median_and_p95_ms([taken for taken, _ in times])],
        ["verdict seen", *median_and_p95_ms([verdict for _, verdict in times])],
    ]
    headers = ("from submitting", "median ms", "95th percentile ms")
    print(f"{problem.spec.name}, mode test, {arguments.count} submissions, one at a time:\n")
    print(table(headers, rows, right=headers[1:]))


if __name__ == "__main__":
    main()
