"""What a job is that leaves out whatever may be left out."""

import re
import tomllib
from dataclasses import MISSING, asdict, fields, replace
from pathlib import Path
from typing import Any

import pytest

from kernelbot.protocol import (
    DeviceSpec,
    JobSpec,
    Limits,
    Mode,
    Peak,
    ProblemSpec,
    RankRule,
    SamplingRules,
    Timeouts,
)
from kernelbot.protocol.enums import NumberType, SandboxMode
from kernelbot.protocol.job import FollowUp
from tests.harness.jobs import CPU, SORT, a_job

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


@pytest.mark.parametrize(
    ("wanted", "expected"), [(NumberType.FP8, 4.0), (NumberType.FP32, 2.0), (None, 4.0)]
)
def test_a_devices_peak_is_that_of_the_type_else_that_of_all(
    wanted: NumberType | None, expected: float
) -> None:
    """None: the largest."""
    device = replace(CPU, peak_flops=2.0, peaks=(Peak(NumberType.FP8, 4.0),))
    assert expected == device.most_flops(wanted)
    assert None is CPU.most_flops(wanted)


def test_what_follows_a_job_is_secret_and_has_all_the_rest_of_it() -> None:
    alone = a_job(SORT)
    both = replace(alone, follow_up=FollowUp("2", Mode.LEADERBOARD, 7))
    following = replace(alone, job_id="2", mode=Mode.LEADERBOARD, seed=7, secret=True)
    assert (alone, following) == (both.alone, both.next_job)
    assert (alone, None) == (alone.alone, alone.next_job)
    assert 2 * alone.longest_s == both.longest_s


def test_a_job_is_by_default_an_ordinary_one_within_the_sandbox() -> None:
    expected = {
        "secret": False,
        "seed": None,
        "limits": Limits(),
        "sampling": SamplingRules(),
        "sandbox": SandboxMode.REQUIRED,
        "opponent": None,
        "build_only": False,
        "report_only": False,
        "product": None,
        "opponent_product": None,
        "checked": False,
        "follow_up": None,
    }
    assert expected == defaults(JobSpec)
