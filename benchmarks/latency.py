"""From submit to verdict through the server: the median and the 95th percentile.

Run with `python -m benchmarks.latency [--count N] [--problem DIR] [--mode MODE]`. One submission at
a time, followed over the event stream as the terminal does it. In mode `leaderboard` the verdict is
the moment at which it has its place, with its interval: of the secret run, if there is one.
"""

import argparse
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from scripts.local_server import LocalServer

from benchmarks.figures import median_and_p95_ms
from kernelbot.catalog.problem import load_problem
from kernelbot.client import KernelbotClient
from kernelbot.protocol import EventKind, Mode, Phase, Verdict
from kernelbot.render.table import table

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
WARM_UP = 3


@dataclass(frozen=True)
class Waited:
    """How long a person waits, from sending on."""

    answered_s: float
    tests_reported_s: float
    verdict_s: float


def one(client: KernelbotClient, board: str, file: Path, mode: Mode) -> Waited:
    """Submit and wait. Raises RuntimeError unless it is accepted."""
    began = time.perf_counter()
    submission = client.submit(file.name, file.read_bytes(), board=board, mode=mode)
    answered_s = time.perf_counter() - began
    tests_reported_s = None
    for event in client.events(submission.id):
        tests_ended = event.kind is EventKind.PHASE_FINISHED and event.data["phase"] == Phase.TEST
        if tests_ended and tests_reported_s is None:
            tests_reported_s = time.perf_counter() - began
    verdict = client.submission(submission.id).verdict
    if verdict is not Verdict.ACCEPTED or tests_reported_s is None:
        raise RuntimeError(f"Submission {submission.id} ended as {verdict}.")
    return Waited(answered_s, tests_reported_s, time.perf_counter() - began)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--problem", type=Path, default=EXAMPLES / "identity_np")
    parser.add_argument("--mode", type=Mode, default=Mode.TEST)
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
            one(client, board, file, arguments.mode)
        times = [one(client, board, file, arguments.mode) for _ in range(arguments.count)]
    rows = [
        ["submit answered", *median_and_p95_ms([waited.answered_s for waited in times])],
        ["tests reported", *median_and_p95_ms([waited.tests_reported_s for waited in times])],
        ["verdict seen", *median_and_p95_ms([waited.verdict_s for waited in times])],
    ]
    headers = ("from submitting", "median ms", "95th percentile ms")
    what = f"{problem.spec.name}, mode {arguments.mode}"
    print(f"{what}, {arguments.count} submissions, one at a time:\n")
    print(table(headers, rows, right=headers[1:]))


if __name__ == "__main__":
    main()
