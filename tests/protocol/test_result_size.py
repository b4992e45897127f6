"""How much room a job gives its result, for each thing that the result may hold."""

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from kernelbot.protocol import Case, JobSpec, Lang, Mode, RankRule, SourceFile
from kernelbot.protocol.job import FollowUp
from kernelbot.protocol.result_size import (
    MAX_BYTES,
    MAX_FILES_BYTES,
    MAX_PRODUCT_BYTES,
    MAX_REPORT_BYTES,
    MAX_TEXT,
    most_bytes,
)
from tests.harness.jobs import SORT, a_job, a_problem

RANKED = a_job(SORT, mode=Mode.LEADERBOARD, problem=a_problem(ranking_by=RankRule.GEOM))
DUEL = replace(RANKED, opponent=SourceFile("other.py", SORT))
COMPILED = replace(RANKED, problem=replace(RANKED.problem, lang=Lang.CPP))
CHARACTER_BYTES = len(json.dumps("\U0001f600")) - 2
NUMBER_BYTES = len(json.dumps([-2.2250738585072014e-308] * 2)) - len(json.dumps([1])) - 23
NOTES = 4096
MORE = Case({"size": 8, "seed": 9})
SPEC_BYTES = len(MORE.spec) * CHARACTER_BYTES


def changed(job: JobSpec, **changes: Any) -> JobSpec:
    return replace(job, problem=replace(job.problem, **changes))


def with_output(job: JobSpec, kept_bytes: int) -> JobSpec:
    return replace(job, limits=replace(job.limits, output_kept_bytes=kept_bytes))


def test_a_character_and_a_number_have_room_in_their_longest_form() -> None:
    assert (12, 26) == (CHARACTER_BYTES, NUMBER_BYTES)


def test_a_job_without_cases_has_room_for_its_phases_and_itself() -> None:
    """Each with a message and its evidence, beside what tells where it ran."""
    job = with_output(changed(RANKED, tests=(), benchmarks=()), 0)
    printed = 2 * NOTES * CHARACTER_BYTES
    assert (1 << 20) + printed + 2 * 3 * MAX_TEXT * CHARACTER_BYTES == most_bytes(job)


@pytest.mark.parametrize(("job", "texts"), [(RANKED, 2), (COMPILED, 6), (DUEL, 2)])
def test_all_that_is_kept_of_what_was_printed_has_room(job: JobSpec, texts: int) -> None:
    """A compiler prints as well, and names kernels in two forms."""
    more = most_bytes(with_output(job, 1001)) - most_bytes(with_output(job, 1))
    assert texts * 1000 * CHARACTER_BYTES == more


@pytest.mark.parametrize(("job", "kernels"), [(RANKED, 1), (DUEL, 2)])
def test_each_test_has_room_for_its_name_in_both_phases_and_for_a_message(
    job: JobSpec, kernels: int
) -> None:
    more = most_bytes(changed(job, tests=(*job.problem.tests, MORE))) - most_bytes(job)
    assert kernels * (MAX_TEXT * CHARACTER_BYTES + 2 * SPEC_BYTES) == more


@pytest.mark.parametrize("job", [RANKED, DUEL])
def test_each_sample_has_room_for_another_number_beside_it(job: JobSpec) -> None:
    """A factor, or the opponent's sample."""
    longer = replace(job.sampling, max_samples=job.sampling.max_samples + 100)
    more = most_bytes(replace(job, sampling=longer)) - most_bytes(job)
    assert 2 * len(job.problem.benchmarks) * 100 * NUMBER_BYTES == more


def test_there_is_room_for_a_sample_where_none_is_asked_for() -> None:
    none, one, two = (
        most_bytes(replace(RANKED, sampling=replace(RANKED.sampling, max_samples=count)))
        for count in (0, 1, 2)
    )
    of_one = 2 * len(RANKED.problem.benchmarks) * NUMBER_BYTES
    assert (one, one + of_one) == (none, two)


def test_each_workload_has_room_for_its_samples_and_for_what_a_script_tells() -> None:
    job = replace(RANKED, sampling=replace(RANKED.sampling, max_samples=50))
    more = most_bytes(changed(job, benchmarks=(*job.problem.benchmarks, MORE))) - most_bytes(job)
    case = MAX_TEXT * CHARACTER_BYTES + 2 * SPEC_BYTES
    assert case + 2 * 50 * NUMBER_BYTES + 20 * MAX_TEXT == more


def test_what_follows_has_room_beside_it() -> None:
    job = a_job(SORT, mode=Mode.TEST, problem=RANKED.problem)
    both = replace(job, follow_up=FollowUp("2", Mode.LEADERBOARD, 7))
    assert most_bytes(job) + most_bytes(RANKED) == most_bytes(both)


def test_what_is_only_tested_has_no_room_for_samples() -> None:
    job = a_job(SORT, mode=Mode.TEST)
    longer = replace(job.sampling, max_samples=job.sampling.max_samples + 100)
    assert most_bytes(job) == most_bytes(replace(job, sampling=longer))


def test_what_was_built_has_room_with_its_compilers_report() -> None:
    job = with_output(changed(COMPILED, tests=(), benchmarks=()), 1000)
    more = most_bytes(replace(job, build_only=True)) - most_bytes(job)
    product = len(base64.b64encode(bytes(MAX_PRODUCT_BYTES)))
    report = 4 * (1000 + NOTES) * CHARACTER_BYTES
    phases = 2 * 2 * MAX_TEXT * CHARACTER_BYTES  # a build step has none
    assert 0 <= more + phases - product - report <= 1


def test_only_profilers_files_have_room_with_a_report_of_each_workload() -> None:
    job = changed(RANKED, tests=(), benchmarks=(MORE,))
    of_mode = [most_bytes(replace(job, mode=mode)) for mode in (Mode.BENCHMARK, Mode.PROFILE)]
    files = len(base64.b64encode(bytes(MAX_FILES_BYTES + MAX_REPORT_BYTES)))
    assert abs(of_mode[1] - of_mode[0] - files) <= 4


def test_no_job_allows_more_than_anybody_reads() -> None:
    job = changed(RANKED, tests=(MORE,) * 1000)
    assert MAX_BYTES == most_bytes(job)
