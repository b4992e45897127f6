"""Data other than a problem's own."""

import pytest

from kernelbot import OtherData
from kernelbot.catalog.problem import load_problem
from kernelbot.domain.errors import UserError
from kernelbot.protocol import DeviceSpec, JobSpec, Mode, SourceFile, Vendor
from tests.environment.examples import EXAMPLES


@pytest.fixture(scope="module")
def job() -> JobSpec:
    problem = load_problem(EXAMPLES / "sort_np").definition.spec
    device = DeviceSpec("CPU", Vendor.CPU)
    return JobSpec("x", problem, SourceFile("submission.py", ""), Mode.TEST, device)


def seeds(job: JobSpec) -> list[object]:
    return [case.args["seed"] for case in (*job.problem.tests, *job.problem.benchmarks)]


def test_the_same_seed_gives_the_same_data_and_another_gives_others(job: JobSpec) -> None:
    once, again, other = (seeds(OtherData(seed).put_into(job)) for seed in (7, 7, 8))
    assert once == again
    assert 3 * len(once) == len({*once, *other, *seeds(job)})
    assert all(type(seed) is int and 0 <= seed < 1 << 31 for seed in once)


def test_what_is_no_seed_stays(job: JobSpec) -> None:
    sizes = [case.args["size"] for case in job.problem.tests]
    assert sizes == [case.args["size"] for case in OtherData(7).put_into(job).problem.tests]


def test_a_secret_seed_is_in_no_case(job: JobSpec) -> None:
    secret = OtherData(7, secret=True).put_into(job)
    assert (True, 7, seeds(job)) == (secret.secret, secret.seed, seeds(secret))
    assert "7" not in repr(OtherData(7, secret=True))


@pytest.mark.parametrize("seed", [-1, 1 << 63])
def test_a_seed_that_cannot_be_is_refused(seed: int) -> None:
    with pytest.raises(UserError, match="A seed is a whole number"):
        OtherData(seed)
