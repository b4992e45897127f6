import json
import typing

import pytest

from kernelbot.protocol import (
    BuildConfig,
    Case,
    DeviceSpec,
    HarnessKind,
    JobSpec,
    Lang,
    Mode,
    ProblemSpec,
    SourceFile,
    Vendor,
    VersionMismatch,
    WireError,
    from_wire,
    precompile_decoders,
    to_wire,
)


def a_job() -> JobSpec:
    problem = ProblemSpec(
        name="sort",
        lang=Lang.PY,
        harness=HarnessKind.NATIVE,
        harness_reason="the reference offers both functions",
        files=(SourceFile("reference.py", "x = 1\n"),),
        submission_name="submission.py",
        config=BuildConfig(main="eval.py"),
        tests=(Case({"size": 127, "shape": [1, [2, 3]], "name": "a'; echo x", "fast": True}),),
        benchmarks=(),
    )
    device = DeviceSpec("CPU", Vendor.CPU)
    return JobSpec("1", problem, SourceFile("s.py", "pass\n"), Mode.TEST, device)


def test_a_job_survives_the_wire() -> None:
    assert from_wire(JobSpec, json.loads(json.dumps(to_wire(a_job())))) == a_job()


@pytest.mark.parametrize("depth", [1, 2, 3, 16])
def test_lists_in_a_case_may_hold_lists(depth: int) -> None:
    value = json.loads("[" * depth + "1" + "]" * depth)
    assert from_wire(Case, to_wire(Case({"shape": value}))) == Case({"shape": value})


def test_an_unknown_key_is_named() -> None:
    wire = {**to_wire(a_job()), "colour": "red"}
    with pytest.raises(WireError, match="JobSpec: unknown key 'colour'"):
        from_wire(JobSpec, wire)


def test_a_wrong_type_is_named_by_its_path() -> None:
    wire = to_wire(a_job())
    wire["problem"]["tests"] = 5
    with pytest.raises(WireError, match=r"problem\.tests: expected a list, got int"):
        from_wire(JobSpec, wire)


def test_a_bool_is_not_an_int() -> None:
    wire = to_wire(a_job())
    wire["limits"]["processes"] = True
    with pytest.raises(WireError, match="processes: expected int, got bool"):
        from_wire(JobSpec, wire)


def test_nan_has_no_place_in_a_message() -> None:
    wire = to_wire(a_job())
    wire["limits"]["cpu_time_s"] = float("nan")
    with pytest.raises(WireError, match="cpu_time_s: expected a number"):
        from_wire(JobSpec, wire)


@pytest.mark.parametrize("version", [0, 2, "1", None, True])
def test_another_version_is_refused(version: object) -> None:
    with pytest.raises(VersionMismatch, match="speaks version 1"):
        from_wire(JobSpec, {**to_wire(a_job()), "version": version})


def test_the_spec_line_is_what_cases_files_hold() -> None:
    assert Case({"size": 127, "seed": 4242}).spec == "size: 127; seed: 4242"


def test_a_number_too_large_for_a_float_is_named() -> None:
    wire = to_wire(a_job())
    wire["limits"]["cpu_time_s"] = 10**400
    with pytest.raises(WireError, match="cpu_time_s: expected a number, got int"):
        from_wire(JobSpec, wire)


def test_what_was_learned_is_not_looked_into_again(monkeypatch: pytest.MonkeyPatch) -> None:
    body = to_wire(a_job())
    precompile_decoders(JobSpec)
    monkeypatch.setattr(typing, "get_type_hints", None)
    assert a_job() == from_wire(JobSpec, body)
