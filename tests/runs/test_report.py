import json
from dataclasses import replace

import pytest

from kernelbot.protocol import RunResult
from kernelbot.runs.model import ShownResult
from kernelbot.runs.report import ResultView, WorkloadReport, WorkloadView
from kernelbot.schemas.values import from_json, to_json
from tests.render.results import ACCEPTED, WORKLOAD, WRONG


@pytest.mark.parametrize("result", [ACCEPTED, WRONG])
def test_nothing_of_a_result_is_lost_on_the_way_through_json(result: RunResult) -> None:
    text = to_json(ShownResult, result)
    assert replace(result, job_id="") == from_json(ShownResult, text)


def test_which_harness_judged_is_kept_if_it_said() -> None:
    said = replace(ACCEPTED, harness_version="0.1.0", harness_sha256="ab" * 32)
    for result, shown in ((said, ("0.1.0", "ab" * 32)), (ACCEPTED, (None, None))):
        report = ResultView.from_result(result)
        assert shown == (report.harness_version, report.harness_sha256)
        assert replace(result, job_id="") == report.to_result()


def test_the_document_has_the_promised_keys() -> None:
    document = json.loads(to_json(ShownResult, ACCEPTED))
    promised = {
        *("verdict", "problem", "mode", "device", "harness", "score_s"),
        *("phases", "stdout", "stderr", "error", "system"),
    }
    assert promised <= set(document)


def test_a_workload_counts_its_samples() -> None:
    document = json.loads(to_json(ShownResult, ACCEPTED))
    assert 3 == document["phases"]["leaderboard"]["workloads"][0]["samples"]
    short = WorkloadReport("size: 1024; seed: 7", 1_100_000.0, (1_000_000.0, 1_200_000.0), 3)
    assert short == WorkloadReport.from_result(WORKLOAD)


def test_what_waited_is_kept() -> None:
    load = WorkloadView.from_result(replace(WORKLOAD, waited=3, repeated=2))
    assert (3, 2) == (load.waited, load.repeated)
    unknown = WorkloadView.from_result(WORKLOAD)
    assert (None, 0) == (unknown.waited, unknown.repeated)
