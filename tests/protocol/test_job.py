"""What a job is that leaves out whatever may be left out."""

import re
import tomllib
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any

import pytest

from kernelbot.protocol import (
    DeviceSpec,
    JobSpec,
    Limits,
    ProblemSpec,
    RankRule,
    SamplingRules,
    Timeouts,
)
from kernelbot.protocol.enums import SandboxMode

CONFIGURATION = Path(__file__).parents[2] / "docs/reference/configuration.md"


@pytest.mark.parametrize(("kind", "table"), [(Limits, "limits"), (SamplingRules, "sampling")])
def test_limits_and_sampling_are_by_default_as_documented(
    kind: type[Limits] | type[SamplingRules], table: str
) -> None:
    blocks = re.findall(r"^```toml\n(.*?)^```", CONFIGURATION.read_text(), re.MULTILINE | re.DOTALL)
    (block,) = (block for block in blocks if block.startswith(f"[{table}]"))
    assert tomllib.loads(block)[table] == asdict(kind())


def test_phases_have_minutes_by_default() -> None:
    assert Timeouts(test_s=180, benchmark_s=180, ranked_s=180, compile_s=120) == Timeouts()


def defaults(kind: type) -> dict[str, Any]:
    return {each.name: each.default for each in fields(kind) if each.default is not MISSING}


def test_a_problem_that_says_no_more_asks_for_no_more() -> None:
    expected = {
        "ranking_by": RankRule.LAST,
        "timeouts": Timeouts(),
        "multi_gpu": False,
        "fresh_output": False,
        "inputs_unchanged": False,
        "contiguous": False,
        "recurring_data": False,
        "floors": (),
        "anchor": None,
        "input_classes": "",
    }
    assert expected == defaults(ProblemSpec)


def test_of_a_device_nothing_is_known_that_was_not_said() -> None:
    unknown = dict.fromkeys(("arch", "peak_flops", "peak_bytes_per_s", "launch_overhead_ns"))
    unknown |= dict.fromkeys(("clock_mhz", "cache_bytes"))
    assert unknown | {"peaks": (), "include_dirs": ()} == defaults(DeviceSpec)


def test_a_job_is_by_default_an_ordinary_one_within_the_sandbox() -> None:
    expected = {
        "secret": False,
        "seed": None,
        "limits": Limits(),
        "sampling": SamplingRules(),
        "sandbox": SandboxMode.REQUIRED,
        "opponent": None,
        "build_only": False,
        "product": None,
        "opponent_product": None,
        "checked": False,
        "follow_up": None,
    }
    assert expected == defaults(JobSpec)
