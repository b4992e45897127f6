"""What the worker and its process with Ray's package say to each other."""

import pytest
from pydantic import ValidationError

from kernelbot.launchers.ray.keeper import TaskJob
from kernelbot.launchers.ray.messages import KeeperQuestion, KeeperRequest, failure

JOB = TaskJob("7.1", "payload", "", "python3", False, 60.0, 1.0, 2.0, {"lab": 0.5})


def test_a_job_is_the_same_on_the_other_side() -> None:
    question = KeeperQuestion(ask=KeeperRequest.LAUNCH, job=JOB)
    assert question == KeeperQuestion.model_validate_json(question.model_dump_json())


def test_a_job_without_its_limit_is_refused() -> None:
    with pytest.raises(ValidationError, match="limit_s"):
        KeeperQuestion.model_validate_json('{"ask": "launch", "job": {"attempt": "7.1"}}')


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no such actor\nin these lines"), "ValueError: no such actor"),
        (RuntimeError(), "RuntimeError"),
        (RuntimeError("x" * 999), "RuntimeError: " + "x" * 300),
    ],
)
def test_a_failure_is_told_on_one_line(error: Exception, said: str) -> None:
    assert said == failure(error).error
