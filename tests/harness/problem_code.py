"""Runs a problem's own code in a process of its own: what it imports stays imported."""

import json
import subprocess
import sys

from kernelbot.harness.judge.problem.troubles import ProblemTrouble
from kernelbot.protocol import ProblemSpec, to_wire
from tests.harness.jobs import a_job


def tried(problem: ProblemSpec) -> tuple[ProblemTrouble, ...]:
    """The troubles that the harness's command finds."""
    job = json.dumps(to_wire(a_job("", problem=problem))).encode()
    command = [sys.executable, "-m", "kernelbot.harness", "try-problem"]
    ended = subprocess.run(command, input=job, capture_output=True, check=True)
    return tuple(ProblemTrouble(**trouble) for trouble in json.loads(ended.stdout))
