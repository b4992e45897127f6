import json
import math
import re
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
from kernelbot.protocol.codec import Json, decoder_of, encode_value


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


@pytest.mark.parametrize(
    ("where", "value", "said"),
    [
        ("limits", [], "JobSpec.limits: expected an object, got list"),
        ("mode", "race", "JobSpec.mode: expected one of test, benchmark, profile, leaderboard"),
        ("seed", "7", "JobSpec.seed: expected int, got str"),
        ("problem", {}, "JobSpec.problem: ProblemSpec.__init__"),
    ],
)
def test_a_wrong_value_is_named_with_what_may_be_there(where: str, value: Json, said: str) -> None:
    with pytest.raises(WireError, match=re.escape(said)):
        from_wire(JobSpec, {**to_wire(a_job()), where: value})


def test_a_value_of_several_types_is_refused_for_each_of_them() -> None:
    with pytest.raises(WireError, match="n: expected int, got float; n: expected str, got float"):
        decoder_of(int | str)(1.5, "n")


def test_what_may_be_missing_is_refused_by_what_else_it_may_be() -> None:
    with pytest.raises(WireError, match=r"^n: expected int, got str$"):
        decoder_of(int | None)("7", "n")
    assert None is decoder_of(int | None)(None, "n")


def test_a_table_is_an_object_whose_values_are_named_by_their_keys() -> None:
    decode = decoder_of(dict[str, int])
    assert {"a": 1} == decode({"a": 1}, "table")
    for value, said in (([1], "table: expected an object, got list"), ({"a": ""}, "table.a: exp")):
        with pytest.raises(WireError, match=f"^{said}"):
            decode(value, "table")


@pytest.mark.parametrize(
    ("pair", "said"), [([1.0], "2 items, got list"), (1.0, "a list, got float")]
)
def test_a_pair_has_two_items(pair: Json, said: str) -> None:
    with pytest.raises(WireError, match=f"pair: expected {said}"):
        decoder_of(tuple[float, float])(pair, "pair")
    assert (1.0, 2.0) == decoder_of(tuple[float, float])([1, 2], "pair")


def test_a_message_is_an_object() -> None:
    with pytest.raises(WireError, match="JobSpec: expected an object, got list"):
        from_wire(JobSpec, [])


def test_what_json_has_no_number_for_is_not_sent() -> None:
    with pytest.raises(WireError, match="inf can't be sent"):
        encode_value({"times": [1.0, math.inf]})


def test_nan_has_no_place_in_a_message() -> None:
    wire = to_wire(a_job())
    wire["limits"]["cpu_time_s"] = float("nan")
    with pytest.raises(WireError, match="cpu_time_s: expected a number"):
        from_wire(JobSpec, wire)


@pytest.mark.parametrize(
    ("version", "older"),
    [(0, "the other"), (2, "this"), ("1", "the other"), (None, "the other"), (True, "the other")],
)
def test_another_version_is_refused_with_who_is_to_be_updated(version: object, older: str) -> None:
    said = (
        "This side speaks version 1 of the job protocol and was sent "
        f"version {version!r}: update {older} side."
    )
    with pytest.raises(VersionMismatch, match=f"^{re.escape(said)}$"):
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
