"""Small jobs for the real harness."""

from kernelbot.protocol import (
    BuildConfig,
    Case,
    DeviceSpec,
    HarnessKind,
    JobSpec,
    Lang,
    Limits,
    Mode,
    ProblemSpec,
    RankRule,
    SamplingRules,
    SourceFile,
    Timeouts,
    Vendor,
)

REFERENCE = """
import numpy as np
SECRET_MARKER = "the reference's own secret"
def generate_input(size, seed):
    return np.random.default_rng(seed).standard_normal(size).astype(np.float32)
def ref_kernel(data):
    return np.sort(data)
def check_implementation(data, output):
    expected = ref_kernel(data)
    if not np.array_equal(expected, output):
        return False, "not sorted"
    return True, ""
"""
SORT = "import numpy as np\ndef custom_kernel(data):\n    return np.sort(data)\n"
FAST = SamplingRules(min_samples=20, max_samples=20, min_total_s=0.0, wall_cap_s=5.0, warmup_s=0.0)
CPU = DeviceSpec("CPU", Vendor.CPU)


def a_problem(
    *,
    reference: str = REFERENCE,
    files: tuple[SourceFile, ...] = (),
    timeouts: Timeouts = Timeouts(test_s=3, benchmark_s=20, ranked_s=20, compile_s=5),
    ranking_by: RankRule = RankRule.LAST,
    fresh_output: bool = False,
    inputs_unchanged: bool = False,
) -> ProblemSpec:
    return ProblemSpec(
        name="sort",
        lang=Lang.PY,
        harness=HarnessKind.NATIVE,
        harness_reason="the reference offers both functions",
        files=(SourceFile("reference.py", reference), *files),
        submission_name="submission.py",
        config=BuildConfig(),
        tests=tuple(Case({"size": size, "seed": 4242}) for size in (1, 64, 1000)),
        benchmarks=(Case({"size": 2000, "seed": 1}), Case({"size": 5000, "seed": 2})),
        ranking_by=ranking_by,
        timeouts=timeouts,
        fresh_output=fresh_output,
        inputs_unchanged=inputs_unchanged,
    )


def a_job(
    source: str,
    *,
    mode: Mode = Mode.TEST,
    problem: ProblemSpec | None = None,
    limits: Limits = Limits(memory_bytes=512 << 20, processes=64, file_size_bytes=32 << 20),
    secret: bool = False,
) -> JobSpec:
    return JobSpec(
        job_id="1",
        problem=problem or a_problem(),
        submission=SourceFile("a'; echo x\n.py", source),
        mode=mode,
        device=CPU,
        secret=secret,
        seed=987654321 if secret else None,
        limits=limits,
        sampling=FAST,
    )
