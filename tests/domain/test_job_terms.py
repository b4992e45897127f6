from dataclasses import fields, replace

from kernelbot.domain.job_terms import JobTerms
from kernelbot.protocol import JobSpec, SourceFile, from_wire, to_wire
from tests.support.searching import bare_job


def test_a_job_is_its_terms_with_problem_and_sources() -> None:
    job = replace(bare_job(secret=True), opponent=SourceFile("b.py", "b"))
    read = from_wire(JobTerms, to_wire(JobTerms.of(job)))
    assert read.spec(job.problem, job.submission, job.opponent) == job


def test_nothing_of_a_job_is_left_out() -> None:
    """A further field of a job is one of its terms, too."""
    names = {field.name for field in fields(JobTerms)} | {"problem", "submission", "opponent"}
    assert names == {field.name for field in fields(JobSpec)}
