"""Submissions a second through the whole platform, in test mode.

Run with `python -m benchmarks.throughput [--count N] [--slots N] [--problem NAME]`. Fifty are under
way at any time; the clock runs from the first submission until the last verdict. The processor time
of each part of the server is that of the same while: other than the clock, it hardly depends on
what else the machine does.
"""

import argparse
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from scripts.local_server import LocalServer

from benchmarks.processor_time import PARTS, processor_s_by_part
from kernelbot.catalog.problem import load_problem
from kernelbot.client import KernelbotClient
from kernelbot.protocol import Mode, Verdict
from kernelbot.render.table import table

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
_WARM_UP = 3
_IN_FLIGHT = 50
"""One account may have no more than some submissions waiting."""


@dataclass(frozen=True)
class Target:
    """A problem, and how many submissions a second are expected on two processors."""

    problem: str
    per_s: float


TARGETS = (Target("identity_np", 8.0), Target("vectoradd_py", 5.0))


def flood(client: KernelbotClient, board: str, file: Path, count: int) -> float:
    """Submissions a second. Raises RuntimeError unless all are accepted."""
    source = file.read_text(encoding="utf-8")
    began = time.perf_counter()
    numbers: list[int] = []
    for n in range(count):
        if n >= _IN_FLIGHT:
            _follow(client, numbers[n - _IN_FLIGHT])
        # A line of its own each: the same file twice is the same submission.
        content = f"{source}# {n}\n".encode()
        numbers.append(client.submit(file.name, content, board=board, mode=Mode.TEST).id)
    for number in numbers[-_IN_FLIGHT:]:
        _follow(client, number)
    took_s = time.perf_counter() - began
    for number in numbers:
        verdict = client.submission(number).verdict
        if verdict is not Verdict.ACCEPTED:
            raise RuntimeError(f"Submission {number} ended as {verdict}.")
    return count / took_s


def _follow(client: KernelbotClient, number: int) -> None:
    """Until it has ended."""
    for _ in client.events(number):
        pass


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--slots", type=int, default=2)
    names = [target.problem for target in TARGETS]
    parser.add_argument("--problem", choices=names, help="only this one")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = folder / "kernelbot.toml"
        config.write_text(f'[[devices]]\nname = "CPU"\nslots = {arguments.slots}\n')
        with (
            LocalServer(folder / "server", config=config) as server,
            KernelbotClient.to(server.own_endpoint()) as client,
        ):
            for target in TARGETS:
                if arguments.problem not in (None, target.problem):
                    continue
                definition = load_problem(EXAMPLES / target.problem).definition
                file = min((EXAMPLES / target.problem / "solutions" / "correct").iterdir())
                board = client.create_board(definition, name=definition.spec.name).name
                flood(client, board, file, _WARM_UP)
                before = processor_s_by_part(server.processes())
                per_s = flood(client, board, file, arguments.count)
                after = processor_s_by_part(server.processes())
                used = [(after[part] - before[part]) * 1e3 / arguments.count for part in PARTS]
                verdict = "holds" if per_s >= target.per_s else "MISSED"
                figures = [f"{ms:.1f}" for ms in (sum(used), *used)]
                rows.append(
                    (target.problem, f"{per_s:.1f}", f"{target.per_s:g}", verdict, *figures)
                )
    parts = [f"{part} ms" for part in PARTS]
    headers = ("problem", "submissions a second", "target", "", "processor ms each", *parts)
    print(f"{arguments.count} submissions each, mode test, {arguments.slots} slots:\n")
    print(table(headers, rows, right=(*headers[1:3], *headers[4:])))


if __name__ == "__main__":
    main()
