"""Problems whose input contains objects of classes of their own, judged natively."""

from dataclasses import replace

from kernelbot.catalog.reference import read_reference
from kernelbot.harness.host.host import Host
from kernelbot.protocol import Fault, JobSpec, Mode, Verdict
from tests.harness.jobs import a_job, a_problem

REFERENCE = """
import numpy as np
SECRET = "the reference's own secret"
START = 2
class Cache:
    def __init__(self, size):
        self.data = np.zeros(size, np.float32)
        self.filled = START
    def append(self, x):
        self.data[self.filled] = x
        self.filled += 1
        return self.data
def generate_input(size, seed):
    cache = Cache(size + 8)
    cache.append(np.random.default_rng(seed).standard_normal())
    return cache, size
def ref_kernel(data):
    cache, size = data
    return cache.append(size)
def check_implementation(data, output):
    return np.array_equal(ref_kernel(data), output), "not appended"
"""
APPEND = """
def custom_kernel(data):
    cache, size = data
    return cache.append(size)
"""
NO_REFERENCE = """
import reference
def custom_kernel(data):
    cache, size = data
    assert type(cache) is reference.Cache
    assert sorted(n for n in vars(reference) if not n.startswith("_")) == ["Cache", "START", "np"]
    return cache.append(size)
"""


def own_class_job(source: str, mode: Mode = Mode.TEST, reference: str = REFERENCE) -> JobSpec:
    problem = a_problem(reference=reference)
    classes = read_reference(reference).input_classes.text
    return a_job(source, mode=mode, problem=replace(problem, input_classes=classes))


def test_every_call_gets_an_object_as_it_was_made(host: Host) -> None:
    result = host.judge(own_class_job(APPEND, Mode.BENCHMARK), lambda _event: None)
    assert Verdict.ACCEPTED == result.verdict, result.failure


def test_of_the_reference_a_runner_finds_the_classes_alone(host: Host) -> None:
    result = host.judge(own_class_job(NO_REFERENCE), lambda _event: None)
    assert Verdict.ACCEPTED == result.verdict, result.phases


def test_such_an_object_is_no_output(host: Host) -> None:
    job = own_class_job("def custom_kernel(data):\n    return data[0]\n")
    result = host.judge(job, lambda _event: None)
    assert Verdict.WRONG_ANSWER == result.verdict
    assert "reference.Cache" in result.phases[0].cases[0].message


def test_classes_that_fail_alone_are_the_problems_fault(host: Host) -> None:
    job = own_class_job(APPEND)
    broken = replace(job.problem, input_classes="from nowhere import Cache\n")
    result = host.judge(replace(job, problem=broken), lambda _event: None)
    assert result.failure is not None
    assert (Verdict.INTERNAL_ERROR, Fault.PLATFORM) == (result.verdict, result.failure.fault)
    assert "nowhere" in result.failure.message
