"""What a result that leaves out whatever may be left out says: nodes of earlier releases do."""

from dataclasses import MISSING, fields
from typing import Any

import pytest

from kernelbot.protocol import (
    CompileReport,
    DuelWorkload,
    Failure,
    PhaseResult,
    Product,
    RunResult,
    SystemInfo,
    WorkloadResult,
)

OF_SAMPLES = {"stopped_by": "", "processes": 1, "waited": None, "repeated": 0}
NOTHING = dict.fromkeys(("score_s", "score_ci95_s", "failure", "compile", "duel", "product"))
EMPTY = dict.fromkeys(("stdout", "stderr", "recurring_data"), "")
UNKNOWN = dict.fromkeys(("harness_version", "harness_sha256"), "")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (
            WorkloadResult,
            OF_SAMPLES
            | {"checked": 0, "empty_call_ns": None, "anchor_ns": None}
            | {"drift_factors": (), "calls": 1},
        ),
        (DuelWorkload, OF_SAMPLES),
        (PhaseResult, {"cases": (), "workloads": (), "failure": None, "of_opponent": False}),
        (
            RunResult,
            NOTHING
            | EMPTY
            | UNKNOWN
            | {"phases": (), "artifacts": (), "duration_s": 0.0, "suspicions": ()}
            | {"attempt_lost": False, "opponent_failed": False},
        ),
        (Failure, {"evidence": ""}),
        (CompileReport, {"kernels": ()}),
        (Product, {"report": None}),
        (SystemInfo, {"notes": (), "processors": None, "threads": None}),
    ],
)
def test_what_is_left_out_was_not_there(kind: Any, expected: dict[str, object]) -> None:
    found = {one.name: one.default for one in fields(kind) if one.default is not MISSING}
    assert expected == found
