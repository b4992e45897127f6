"""The build step of a job: what it is told, and by what it is found again."""

from dataclasses import replace

import pytest

from kernelbot.protocol import Case, HarnessKind, JobSpec, Lang, Mode, Phase, SourceFile, Vendor
from kernelbot.protocol.building import (
    Side,
    build_job,
    build_key,
    has_build_step,
    job_of,
    only_cute_compiles,
)
from kernelbot.protocol.phases import all_limits_s, phases_of
from tests.support.device_problems import compiled_problem, device_job, device_problem

COMPILED = device_job("void custom_kernel() {}", Mode.LEADERBOARD, compiled_problem())
INLINE = device_job("# load_inline", Mode.LEADERBOARD, device_problem())
TRITON = device_job("import triton", Mode.LEADERBOARD, device_problem())
OTHER = SourceFile("other.py", "a'; echo x")


def key(job: JobSpec, place: str = "image") -> bytes:
    return build_key(job, "builder", place)


@pytest.mark.parametrize("run", [COMPILED, INLINE])
def test_all_runs_of_a_source_have_one_build(run: JobSpec) -> None:
    """It can't tell a public run from a secret one, from a duel, or from a rejudge."""
    others = (
        replace(run, job_id="2", mode=Mode.TEST),
        replace(run, job_id="3", secret=True, seed=12345),
        replace(run, job_id="4", secret=True, seed=6, opponent=OTHER),
    )
    assert {key(run)} == {key(other) for other in others}
    steps = [build_job(one, "b", "builder") for one in others]
    assert [build_job(run, "b", "builder")] * 3 == steps


def test_the_side_of_a_duel_makes_no_difference() -> None:
    duel = replace(COMPILED, submission=OTHER, opponent=COMPILED.submission)
    assert key(COMPILED) == key(job_of(duel, Side.OPPONENT))


def test_another_source_or_place_is_another_build() -> None:
    problem = COMPILED.problem
    flags = replace(problem, config=replace(problem.config, compile_flags=("-O0",)))
    header = replace(problem, files=(*problem.files, SourceFile("a.h", "")))
    keys = {
        key(COMPILED),
        key(COMPILED, "another image"),
        build_key(COMPILED, "another builder", "image"),
        key(replace(COMPILED, submission=OTHER)),
        key(replace(COMPILED, problem=flags)),
        key(replace(COMPILED, problem=header)),
        key(replace(COMPILED, device=replace(COMPILED.device, arch="100a"))),
    }
    assert 7 == len(keys)


def test_the_order_of_a_cases_arguments_is_no_other_build() -> None:
    """A database keeps them in one of its own."""
    turned = [Case(dict(reversed(case.args.items()))) for case in INLINE.problem.tests]
    other = replace(INLINE, problem=replace(INLINE.problem, tests=tuple(turned)))
    assert (key(INLINE), True) == (key(other), len(turned[0].args) > 1)


@pytest.mark.parametrize(
    ("text", "is_all"),
    [
        ("import cutlass", True),
        ("import cutlass, triton", False),
        ("import cutlass # load_inline", False),
        ("import numpy", False),
    ],
)
def test_whether_cute_is_all_that_compiles(text: str, is_all: bool) -> None:
    assert is_all is only_cute_compiles(text)


def test_a_build_step_has_no_data() -> None:
    step = build_job(replace(COMPILED, secret=True, seed=7), "b", "builder")
    given = (step.seed, step.secret, step.opponent, step.problem.tests, step.problem.benchmarks)
    assert (None, False, None, (), ()) == given


def test_a_build_step_has_the_compile_limit_alone() -> None:
    step = build_job(INLINE, "b", "builder")
    limit_s = INLINE.problem.timeouts.compile_s
    assert ((), limit_s, limit_s) == (phases_of(step), all_limits_s(step), step.longest_s)
    assert (Phase.TEST, Phase.LEADERBOARD) == phases_of(INLINE)


SCRIPT = replace(COMPILED.problem, harness=HarnessKind.SCRIPT)
ON_CPU = replace(INLINE.device, vendor=Vendor.CPU)


@pytest.mark.parametrize(
    ("job", "has_one"),
    [
        (COMPILED, True),
        (replace(COMPILED, device=ON_CPU), True),
        (replace(COMPILED, problem=replace(COMPILED.problem, lang=Lang.CU)), True),
        (INLINE, True),
        (TRITON, True),
        (replace(TRITON, submission=SourceFile("a.py", "import helion")), True),
        (replace(TRITON, submission=SourceFile("a.py", "triton; torch.compile")), False),
        (replace(INLINE, submission=SourceFile("a.py", "import numpy")), False),
        (replace(INLINE, submission=SourceFile("a.py", "x\n  import a, cutlass.cute\n")), True),
        (replace(INLINE, submission=SourceFile("a.py", "from cutlass import cute")), True),
        (replace(INLINE, submission=SourceFile("a.py", "#include <cutlass/cutlass.h>")), False),
        (replace(INLINE, submission=SourceFile("a.py", "import cutlassx # cutlass")), False),
        (replace(INLINE, submission=SourceFile("a.py", "import " * 100_000)), False),
        (replace(INLINE, device=ON_CPU), False),
        (replace(INLINE, problem=replace(INLINE.problem, multi_gpu=True)), False),
        (replace(COMPILED, problem=SCRIPT), False),
    ],
)
def test_which_submissions_have_a_build_step(job: JobSpec, has_one: bool) -> None:
    assert has_one == has_build_step(job)
