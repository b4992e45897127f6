"""What things cost against how many there are, and with which exponent: processor time, so that it
hardly depends on what else the machine does.

Run with `python -m benchmarks.growth [--only WORD...] [--count N] [--largest]`. With `--largest` up
to 1,000,000 submissions and 4,000 followers, which takes 20 minutes more. Each line is the cost of
one operation in milliseconds of all processes of the server that serve it. The exponent is that
between the two largest sizes: 0 is flat, 1 is linear.
"""

import argparse
from collections.abc import Callable, Sequence

from benchmarks.growth_cluster import against_jobs, against_workers
from benchmarks.growth_live import against_followers
from benchmarks.growth_pages import against_authors, against_boards, against_submissions
from benchmarks.growth_rules import Curve, first_to_give_way
from kernelbot.render.table import table


def growths(count: int, *, largest: bool) -> dict[str, Callable[[], list[Curve]]]:
    """What can be measured, by name."""
    submissions = (1_000, 10_000, 100_000, *((1_000_000,) if largest else ()))
    followers = (10, 100, 1_000, *((4_000,) if largest else ()))
    return {
        "submissions": lambda: against_submissions(submissions, count),
        "authors": lambda: against_authors((100, 1_000, 10_000), count),
        "boards": lambda: against_boards((10, 100, 1_000), count),
        "followers": lambda: against_followers(followers),
        "workers": lambda: against_workers((1, 4, 16)),
        "jobs": lambda: against_jobs((10, 100, 1_000)),
    }


def growth_table(curves: Sequence[Curve]) -> str:
    """A table of curves of the same sizes."""
    sizes = [f"{point.size:,}" for point in curves[0].points]
    rows = [[curve.of, *_costs(curve), *_exponent(curve)] for curve in curves]
    headers = (f"ms, by {curves[0].what}", *sizes, "exponent", "")
    return table(headers, rows, right=headers[1:-1])


def _costs(curve: Curve) -> list[str]:
    return [f"{point.cost_ms:.2f}" for point in curve.points]


def _exponent(curve: Curve) -> tuple[str, str]:
    exponent = curve.exponent()
    text = "-" if exponent is None else f"{exponent:.2f}"
    return text, "ABOVE LINEAR" if curve.is_above_linear() else ""


def main() -> None:
    """Print the tables, each as soon as it is there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="WORD", help="what to measure")
    parser.add_argument("--count", type=int, default=300, help="requests of each kind")
    parser.add_argument("--largest", action="store_true", help="the largest sizes, too")
    arguments = parser.parse_args()
    curves: list[Curve] = []
    for name, measure in growths(arguments.count, largest=arguments.largest).items():
        if not arguments.only or name in arguments.only:
            found = measure()
            curves += found
            print(f"{growth_table(found)}\n", flush=True)
    steepest = first_to_give_way(curves)
    if steepest is not None:
        print(f"Gives way first: {steepest.of}, against {steepest.what}.")


if __name__ == "__main__":
    main()
