from dataclasses import fields, replace

from kernelbot.protocol import JobSpec, SourceFile, from_wire, to_wire
from kernelbot.runs.job_terms import JobTerms
from tests.support.building import product_of
from tests.support.searching import bare_job


def test_a_job_is_its_terms_with_problem_and_sources() -> None:
    job = replace(bare_job(secret=True), opponent=SourceFile("b.py", "b"))
    read = from_wire(JobTerms, to_wire(JobTerms.from_job(job)))
    assert read.spec(job.problem, job.submission, job.opponent) == job


def test_nothing_of_a_job_is_left_out() -> None:
    """A further field of a job is one of its terms, too. Of products there are the hashes; a run
    is no build step, and only who judges without a server has memory accesses checked."""
    products = {"product", "opponent_product"}
    named = {field.name for field in fields(JobTerms)} - {f"{name}_sha256" for name in products}
    steps = {"build_only", "report_only"}
    names = named | products | steps | {"problem", "submission", "opponent", "checked"}
    assert names == {field.name for field in fields(JobSpec)}


def test_what_a_job_carries_is_named_by_its_hash() -> None:
    product = product_of(b"a library")
    terms = JobTerms.from_job(replace(bare_job(), product=product))
    assert (product.sha256, "") == (terms.product_sha256, terms.opponent_product_sha256)
