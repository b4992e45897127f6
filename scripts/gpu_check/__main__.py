"""`python -m scripts.gpu_check [SECTION]...`: all sections of the report, or those that are named.

Exit status 0: all as expected, 1: something isn't, 2: there is no GPU here, so nothing was checked.
"""

import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence

from kernelbot.domain.errors import KernelbotError
from kernelbot.render.table import table
from scripts.gpu_check import (
    arenas,
    costs,
    duels,
    examples,
    exploits,
    first_run,
    libraries,
    machine,
    outputs,
    timing,
)
from scripts.gpu_check.machine import Gpu, find_gpu

NO_GPU = 2
SECTIONS: dict[str, Callable[[Gpu], bool]] = {
    "device": machine.check,
    "arenas": arenas.check,
    "libraries": libraries.check,
    "examples": examples.check,
    "exploits": exploits.check,
    "timing": timing.check,
    "duels": duels.check,
    "outputs": outputs.check,
    "sizes": first_run.check_sizes,
    "gaps": first_run.check_gaps,
    "endless": first_run.check_endless,
    "builds": first_run.check_builds,
    "ranks": first_run.check_ranks,
    "overhead": costs.check_overhead,
    "precision": costs.check_precision,
}


def main(names: Sequence[str]) -> int:
    """The command; the exit status."""
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        print(f"No section {unknown[0]!r}: there are {', '.join(SECTIONS)}.", file=sys.stderr)
        return 1
    gpu = find_gpu()
    if gpu is None:
        print("There is no NVIDIA GPU here: nothing was checked.", file=sys.stderr)
        return NO_GPU
    print(f"{gpu.name}, sm_{gpu.arch}")
    rows = [_run(name, gpu) for name in (names or SECTIONS)]
    print(f"\n== summary ==\n\n{table(('section', 'as expected', 'took s'), rows)}")
    return 0 if all(row[1] == "yes" for row in rows) else 1


def _run(name: str, gpu: Gpu) -> tuple[str, str, str]:
    """One section; what stops it doesn't stop the others."""
    print(f"\n== {name} ==\n", flush=True)
    start = time.monotonic()
    try:
        said = "yes" if SECTIONS[name](gpu) else "NO"
    except (RuntimeError, OSError, KernelbotError, subprocess.SubprocessError) as error:
        traceback.print_exc()
        said = f"NO: {str(error).splitlines()[0][:100] if str(error) else type(error).__name__}"
    return name, said, f"{time.monotonic() - start:.0f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
