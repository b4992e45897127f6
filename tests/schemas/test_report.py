import json
from dataclasses import replace

import pytest

from kernelbot.protocol import RunResult
from kernelbot.schemas.report import Report
from tests.render.results import ACCEPTED, WRONG


@pytest.mark.parametrize("result", [ACCEPTED, WRONG])
def test_nothing_of_a_result_is_lost_on_the_way_through_json(result: RunResult) -> None:
    text = Report.of(result).model_dump_json()
    assert replace(result, job_id="") == Report.model_validate_json(text).to_result()


def test_the_document_has_the_promised_keys() -> None:
    document = json.loads(Report.of(ACCEPTED).model_dump_json())
    promised = {
        *("verdict", "problem", "mode", "device", "harness", "score_s"),
        *("phases", "stdout", "stderr", "error", "system"),
    }
    assert promised <= set(document)


def test_a_workload_counts_its_samples() -> None:
    document = json.loads(Report.of(ACCEPTED).model_dump_json())
    assert 3 == document["phases"]["leaderboard"]["workloads"][0]["samples"]
