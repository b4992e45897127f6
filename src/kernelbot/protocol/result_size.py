"""How large a job's result can be: what its job allows, written as JSON in the longest way.

Whoever fetches a result stops reading there: nothing beyond it can be one.
"""

from kernelbot.protocol.enums import Mode, Phase
from kernelbot.protocol.job import JobSpec
from kernelbot.protocol.phases import cases_of, phases_of

MAX_TEXT = 16 << 10
"""Most characters of a message or its evidence: checkers quote outputs, and an output may be
long."""
MAX_FILE_BYTES = 16 << 20
"""Most bytes of one file that a run leaves."""
MAX_FILES_BYTES = 32 << 20
"""Most bytes of all files of a run; texts don't count, since they are short and come in any
case."""
MAX_REPORT_BYTES = 256 << 10
"""Most bytes of a text among them."""
REPORT = "text/plain"
"""The media type of such a text."""
MAX_BYTES = 128 << 20
"""Most bytes of any result: a job whose cases allow more has a reference that explains too much."""
MAX_PRODUCT_BYTES = 16 << 20
"""Most bytes of what a build step has made, in zlib: a duel carries two of them."""
MAX_UNPACKED_BYTES = 64 << 20
"""Most bytes of the same, unpacked."""
_OF_A_CHARACTER = 12
"""`\\ud83d\\ude00`."""
_OF_A_NUMBER = 26
_OF_NOTES = 4096
"""Beside what is counted in characters: a note that something was left out, a key."""
_BASE_BYTES = 1 << 20
"""Where it ran, with which harness, notes and times."""


def most_bytes(job: JobSpec) -> int:
    """Most bytes of the JSON of a result of this job, with its files and the result of what
    follows."""
    possible = _BASE_BYTES + _printed(job) + _cases(job) + _measured(job) + _files(job)
    if job.next_job is not None:
        possible += most_bytes(job.next_job)
    if job.build_only:
        possible += MAX_PRODUCT_BYTES * 4 // 3 + 4 + _report(job)
    return min(possible, MAX_BYTES)


def _printed(job: JobSpec) -> int:
    """By the author's runners, and by a compiler, whose output names kernels in two forms."""
    texts = 6 if job.problem.lang.is_compiled else 2
    return texts * (job.limits.output_kept_bytes + _OF_NOTES) * _OF_A_CHARACTER


def _report(job: JobSpec) -> int:
    """A compiler's, once more: it stays with what was built."""
    return 4 * (job.limits.output_kept_bytes + _OF_NOTES) * _OF_A_CHARACTER


def _cases(job: JobSpec) -> int:
    """With a message each; a phase and the run have a failure with its evidence besides."""
    kernels = 1 if job.opponent is None else 2
    phases = phases_of(job)
    count = sum(len(cases_of(job.problem, phase)) for phase in phases)
    texts = kernels * count + 2 * (kernels * len(phases) + 1)
    return texts * MAX_TEXT * _OF_A_CHARACTER + kernels * _specs(job) * len(phases)


def _specs(job: JobSpec) -> int:
    cases = (*job.problem.tests, *job.problem.benchmarks)
    return sum(len(case.spec) for case in cases) * _OF_A_CHARACTER


def _measured(job: JobSpec) -> int:
    """A sample has a factor of its own for every ten, and in a duel an opponent's beside it. What
    a script reports besides is bounded as a few messages are."""
    rounds = max(job.sampling.max_samples, 1)
    of_one = 2 * rounds * _OF_A_NUMBER + 20 * MAX_TEXT
    timed = [phase for phase in phases_of(job) if phase is not Phase.TEST]
    return sum(len(cases_of(job.problem, phase)) for phase in timed) * of_one


def _files(job: JobSpec) -> int:
    """Only profilers leave files; they travel in base64."""
    if job.mode is not Mode.PROFILE:
        return 0
    reports = len(job.problem.benchmarks) * MAX_REPORT_BYTES
    return (MAX_FILES_BYTES + reports) * 4 // 3
