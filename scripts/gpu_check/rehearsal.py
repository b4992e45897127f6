"""What libraries of GPUs ask of the system, tried in a runner; see `needs.py`."""

import json
from pathlib import Path

from kernelbot.harness.sandbox import RunnerClient, run_command
from kernelbot.harness.words.sandbox import SandboxUnavailable
from scripts.gpu_check import needs
from scripts.gpu_check.needs import Rehearsed

_TIMEOUT_S = 60.0


def rehearse(client: RunnerClient) -> tuple[Rehearsed, ...]:
    """Try all of `needs.NEEDS` in a runner of `client`. Raises `SandboxUnavailable`."""
    program = Path(needs.__file__).read_text() + "\nmain()\n"
    result = run_command(client, ["python3", "-c", program], timeout_s=_TIMEOUT_S)
    if result.exit_code != 0:
        raise SandboxUnavailable(f"The rehearsal failed: {result.stderr.strip()[-500:]}")
    return tuple(Rehearsed(**found) for found in json.loads(result.stdout))
