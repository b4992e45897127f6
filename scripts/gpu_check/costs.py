"""The benchmarks of what judging costs and how well its numbers repeat, on the GPU."""

from benchmarks.overhead import figures_table, measure_all
from benchmarks.precision import judgements, spreads_table

from kernelbot.catalog.problem import load_problem
from scripts.gpu_check.examples import EXAMPLES
from scripts.gpu_check.machine import Gpu

REPEAT = 5
JUDGEMENTS = 10
PRECISION_OF = "vectoradd_cu"


def check_overhead(gpu: Gpu) -> bool:
    """Print the table. There is no target yet: nobody knows what a GPU allows."""
    print(figures_table(measure_all(REPEAT, gpu.device)))
    return True


def check_precision(gpu: Gpu) -> bool:
    """Print the table; the same holds."""
    folder = EXAMPLES / PRECISION_OF
    results = list(judgements(folder, JUDGEMENTS, gpu.device))
    print(f"{folder.name}, judged {len(results)} times\n")
    print(spreads_table(results, load_problem(folder)))
    return True
