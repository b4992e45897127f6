"""Runs a problem's own code in a process of its own: what it imports stays imported."""

import json
import os
from pathlib import Path

from kernelbot.harness.judge.problem.troubles import ProblemTrouble
from kernelbot.protocol import ProblemSpec, to_wire
from tests.harness.jobs import a_job
from tests.support import forked


def tried(problem: ProblemSpec) -> tuple[ProblemTrouble, ...]:
    """The troubles that the harness's command finds."""
    job = json.dumps(to_wire(a_job("", problem=problem))).encode()
    ended = forked.run(
        ["try-problem"],
        Path.cwd(),
        dict(os.environ),
        60.0,
        program="kernelbot.harness.host.cli",
        given=job,
    )
    ended.check_returncode()
    return tuple(ProblemTrouble(**trouble) for trouble in json.loads(ended.stdout))
