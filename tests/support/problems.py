"""Problem definitions and submissions small enough to read."""

from kernelbot.boards.model import ProblemDefinition
from kernelbot.protocol import (
    BuildConfig,
    Case,
    HarnessKind,
    Lang,
    ProblemSpec,
    RankRule,
    SourceFile,
)

REFERENCE = """\
import numpy as np

def generate_input(size: int, seed: int):
    return np.random.default_rng(seed).random(size)

def ref_kernel(data):
    return np.sort(data)

def check_implementation(data, output):
    if not np.array_equal(ref_kernel(data), output):
        return False, "the output isn't sorted"
    return True, ""
"""

CORRECT = b"""\
import numpy as np

def custom_kernel(data):
    return np.sort(data)
"""

WRONG = b"""\
def custom_kernel(data):
    return data
"""


def sort_problem(name: str = "sort", devices: tuple[str, ...] = ("CPU",)) -> ProblemDefinition:
    """Sort an array with numpy: two tests, one workload."""
    spec = ProblemSpec(
        name=name,
        lang=Lang.PY,
        harness=HarnessKind.NATIVE,
        harness_reason="the reference offers generate_input and check_implementation",
        files=(SourceFile("reference.py", REFERENCE),),
        submission_name="submission.py",
        config=BuildConfig(main="eval.py"),
        tests=(Case({"size": 127, "seed": 4242}), Case({"size": 1000, "seed": 1})),
        benchmarks=(Case({"size": 10_000, "seed": 7}),),
        ranking_by=RankRule.LAST,
    )
    return ProblemDefinition(spec, "Sort it.", devices, {"Python": CORRECT.decode()})
