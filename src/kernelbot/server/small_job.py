"""A job that any harness can judge: it needs nothing but Python."""

from kernelbot.protocol import (
    BuildConfig,
    Case,
    DeviceSpec,
    HarnessKind,
    JobSpec,
    Lang,
    Mode,
    ProblemSpec,
    SandboxMode,
    SourceFile,
    Vendor,
)

_REFERENCE = (
    "def generate_input(size: int):\n    return size\n\n"
    "def check_implementation(data, output):\n    return output == data + 1, 'not the next'\n"
)
_PROGRAM = "def custom_kernel(data):\n    return data + 1\n"
_CPU = DeviceSpec("CPU", Vendor.CPU)


def small_job(
    job_id: str, device: DeviceSpec = _CPU, sandbox: SandboxMode = SandboxMode.REQUIRED
) -> JobSpec:
    """One test of one number; it is to be accepted."""
    problem = ProblemSpec(
        name="small-job",
        lang=Lang.PY,
        harness=HarnessKind.NATIVE,
        harness_reason="it needs no script",
        files=(SourceFile("reference.py", _REFERENCE),),
        submission_name="submission.py",
        config=BuildConfig(),
        tests=(Case({"size": 1}),),
        benchmarks=(),
    )
    program = SourceFile("submission.py", _PROGRAM)
    return JobSpec(job_id, problem, program, Mode.TEST, device, sandbox=sandbox)
