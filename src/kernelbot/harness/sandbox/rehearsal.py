"""What libraries of GPUs ask of the system, tried in a runner; see `inside/needs.py`."""

import json

from kernelbot.harness.inside.needs import Rehearsed
from kernelbot.harness.sandbox.client import RunnerClient
from kernelbot.harness.sandbox.command import run_command
from kernelbot.harness.sandbox.enclosure import harness_path
from kernelbot.harness.words.sandbox import SandboxUnavailable

_TIMEOUT_S = 60.0


def rehearse(client: RunnerClient) -> tuple[Rehearsed, ...]:
    """Try all of `needs.NEEDS` in a runner of `client`. Raises `SandboxUnavailable`."""
    program = (
        f"import sys; sys.path.insert(0, {harness_path(isolated=True)!r}); "
        "from kernelbot.harness.inside import needs; needs.main()"
    )
    result = run_command(client, ["python3", "-c", program], timeout_s=_TIMEOUT_S)
    if result.exit_code != 0:
        raise SandboxUnavailable(f"The rehearsal failed: {result.stderr.strip()[-500:]}")
    return tuple(Rehearsed(**found) for found in json.loads(result.stdout))
