"""A natively judged submission under a vendor's profiler."""

import contextlib
import json
import sys
from dataclasses import dataclass, replace

from kernelbot.harness.data.encode import Encoded
from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.inside.cage.loader import shared_files
from kernelbot.harness.inside.profiling import alone
from kernelbot.harness.judge.profiling.findings import ProfilerFindings
from kernelbot.harness.judge.profiling.tools import Installed, share_s
from kernelbot.harness.sandbox import CommandNotStarted, RunnerClient, harness_path, run_command
from kernelbot.harness.words.sandbox import CommandResult
from kernelbot.protocol import JobSpec, SandboxMode

_REPORT_BYTES = 256 << 20
_FRAMEWORKS = ("numpy", "torch")


@dataclass(frozen=True)
class Subject:
    """The submission to profile, whose output was right."""

    job: JobSpec
    modules: frozenset[str]
    binary: bytes | None
    """The shared object of a compiled submission; else None."""
    builds: bytes
    """What a submission in Python has compiled for itself, packed."""


class ToolProfiler:
    """Starts the tool with a fresh interpreter for each workload; all of it by a deadline."""

    def __init__(
        self, tool: Installed, subject: Subject, client: RunnerClient, deadline: float
    ) -> None:
        self._tool = tool
        self._subject = subject
        self._client = client
        self._deadline = deadline
        self._limits = subject.job.limits

    def profile(self, data: Encoded) -> ProfilerFindings:
        """The tool's findings. If the tool fails, that isn't the submission's fault."""
        job = self._subject.job
        isolated = job.sandbox is SandboxMode.REQUIRED
        argv = self._tool.command(["python3", "-m", alone.__name__])
        file_bytes = max(job.limits.file_size_bytes, data.size_bytes + _REPORT_BYTES)
        self._limits = replace(job.limits, file_size_bytes=file_bytes)
        environment = {"PYTHONPATH": harness_path(isolated=isolated), **self._tool.tool.environment}
        try:
            result = self._run(argv, self._files(data), environment, self._tool.tool.leaves)
            return self._tool.findings(result, lambda argv, files: self._run(argv, files))
        except CommandNotStarted as error:
            text = f"{self._tool.program} could not be started: {error}"
            return ProfilerFindings(self._tool.tool.title, text)

    def _run(
        self,
        argv: list[str],
        files: dict[str, bytes],
        environment: dict[str, str] | None = None,
        collect: tuple[str, ...] = (),
    ) -> CommandResult:
        return run_command(
            self._client,
            argv,
            files=files,
            env=environment,
            limits=self._limits,
            timeout_s=share_s(self._deadline),
            collect=collect,
        )

    def _files(self, data: Encoded) -> dict[str, bytes]:
        subject, spec = self._subject, self._subject.job.problem
        files = {file.name: file.text.encode() for file in shared_files(spec)}
        if subject.binary is None:
            files[spec.submission_name] = subject.job.submission.text.encode()
        else:
            files[alone.LIBRARY] = subject.binary
        if subject.builds:
            files[alone.BUILDS] = subject.builds
        order = {
            "data": data.skeleton,
            # Frameworks that this judge has loaded, runners have too: the data may need them.
            "frameworks": [name for name in _FRAMEWORKS if name in sys.modules],
            "modules": sorted(subject.modules),
            "submission": spec.submission_name,
            "outputs": None if subject.binary is None else list(spec.config.outputs),
        }
        with contextlib.closing(SharedBuffer.create(data.size_bytes)) as packed:
            data.copy_to(packed)
            files[alone.DATA] = packed.read(0, packed.size_bytes)
        return {**files, alone.ORDER: json.dumps(order).encode()}
