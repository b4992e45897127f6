"""Trying the sandbox on this machine, for `kernelbot doctor`."""

import json

from kernelbot.harness.sandbox import cgroups
from kernelbot.harness.sandbox.client import RunnerClient
from kernelbot.harness.sandbox.command import CommandNotStarted, run_command
from kernelbot.harness.sandbox.enclosure import harness_path
from kernelbot.harness.sandbox.zygote import RLIMITS, Zygote
from kernelbot.harness.words.sandbox import Flavour, SandboxUnavailable, ZygoteConfig
from kernelbot.protocol import SandboxReport

_READY_TIMEOUT_S = 30.0
_TIMEOUT_S = 30.0


def probe() -> SandboxReport:
    """Run a real runner and look around from inside. Never raises: `missing` tells the reasons.

    `mode` is `unavailable` where no runner could be had; what to do stands in `missing` then.
    """
    try:
        zygote = Zygote.start(ZygoteConfig(Flavour.BARE))
    except SandboxUnavailable as error:
        return SandboxReport("unavailable", (), (str(error),))
    try:
        zygote.wait_ready(_READY_TIMEOUT_S)
        findings = _probe(zygote)
    except (SandboxUnavailable, CommandNotStarted) as error:
        return SandboxReport("unavailable", (), (str(error),))
    finally:
        zygote.close()
    groups = cgroups.detect()
    held = tuple(promise for promise, holds in findings.items() if holds)
    broken = tuple(f"{promise}: not in force" for promise, holds in findings.items() if not holds)
    return SandboxReport(
        "bubblewrap", (*held, *groups.in_force, RLIMITS), (*broken, *groups.missing)
    )


def _probe(zygote: Zygote) -> dict[str, bool]:
    program = (
        f"import sys; sys.path.insert(0, {harness_path(isolated=True)!r}); "
        "from kernelbot.harness.inside import promises; promises.main()"
    )
    client = RunnerClient(zygote.connect())
    try:
        result = run_command(client, ["python3", "-c", program], timeout_s=_TIMEOUT_S)
    finally:
        client.close()
    if result.exit_code != 0:
        raise SandboxUnavailable(f"A trial runner failed: {result.stderr.strip()[-500:]}")
    findings = json.loads(result.stdout)
    return {str(promise): holds is True for promise, holds in findings.items()}
