"""What a node leaves of a job and of what followed it, and what is read of that."""

import json
from dataclasses import replace
from typing import Any

import pytest

from kernelbot.protocol import Mode, WireError, to_wire
from kernelbot.protocol.job import FollowUp
from kernelbot.protocol.several_results import next_result, own_result, results_to_wire
from tests.harness.jobs import SORT, a_job
from tests.support.honest import accepted

ALONE = a_job(SORT)
BOTH = replace(ALONE, follow_up=FollowUp("2", Mode.LEADERBOARD, 7))
OWN, OTHER = accepted(ALONE), replace(accepted(ALONE), job_id="2")


def test_each_of_two_results_is_found_again() -> None:
    left = json.loads(json.dumps(results_to_wire(OWN, OTHER)))
    expected = [json.loads(json.dumps(to_wire(one))) for one in (OWN, OTHER)]
    assert expected == [own_result(left, BOTH), next_result(left)]


def test_a_result_alone_is_a_result() -> None:
    assert to_wire(OWN) == results_to_wire(OWN, None) == own_result(to_wire(OWN), BOTH)


def test_nothing_follows_a_job_to_which_nothing_was_added() -> None:
    left = results_to_wire(OWN, OTHER)
    assert left == own_result(left, ALONE)


@pytest.mark.parametrize("left", [[], "follow_up", {}, {"version": 1}])
def test_what_did_not_follow_is_no_result(left: Any) -> None:
    assert left == own_result(left, BOTH)
    with pytest.raises(WireError, match=r"^nothing followed it$"):
        next_result(left)
