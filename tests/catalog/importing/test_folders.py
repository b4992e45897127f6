"""Whole imports: what is written, what is refused, and what is left alone."""

from pathlib import Path
from typing import Any

import pytest

from kernelbot.catalog.competition import load_competition
from kernelbot.catalog.importing.folders import Imported, import_problems
from kernelbot.catalog.problem import load_problem
from kernelbot.catalog.skeleton import NAME_RULE
from kernelbot.domain.errors import Conflict, InvalidProblem, NotFound, UserError
from kernelbot.protocol import HarnessKind, ProblemSpec
from tests.catalog.importing.suites import (
    BASELINE,
    DEFINITION,
    MODEL,
    TENSARA,
    lay_flashinfer,
    lay_kernelbench,
    lay_tensara,
    record,
)
from tests.support.small_disk import small_disk


def spec_of(folder: Path) -> ProblemSpec:
    loaded = load_problem(folder)
    assert () == loaded.warnings
    return loaded.definition.spec


def refusals(imported: Imported) -> list[str]:
    return [str(finding) for finding in imported.refused]


def test_a_module_of_kernelbench_becomes_a_problem(tmp_path: Path) -> None:
    lay_kernelbench(tmp_path / "suite")
    imported = import_problems(
        "kernelbench", tmp_path / "suite", tmp_path / "out", devices=["H100"]
    )
    assert ((tmp_path / "out" / "level1_1_Scale",), ()) == (imported.folders, imported.refused)
    folder = imported.folders[0]
    loaded = load_problem(folder)
    spec = loaded.definition.spec
    texts = {file.name: file.text for file in spec.files}
    assert (HarnessKind.NATIVE, 5, 1, MODEL, ("H100",)) == (
        spec.harness,
        len(spec.tests),
        len(spec.benchmarks),
        texts["kernelbench_model.py"],
        loaded.definition.devices,
    )
    assert loaded.definition.description.startswith("Scales what a layer gives.\n")
    assert (
        (folder / "solutions" / "correct" / "model.py").read_text().endswith("ModelNew = Model\n")
    )


def test_sizes_above_the_largest_become_it(tmp_path: Path) -> None:
    file = lay_kernelbench(tmp_path) / "1_Scale.py"
    imported = import_problems("kernelbench", file, tmp_path / "out", largest=8)
    text = (imported.folders[0] / "kernelbench_model.py").read_text()
    assert MODEL.replace("2**9", "8").replace("1024", "8") == text


def test_a_definition_and_its_workloads_become_a_problem(tmp_path: Path) -> None:
    suite = lay_flashinfer(tmp_path / "suite")
    imported = import_problems("flashinfer-bench", suite, tmp_path / "out", largest=64)
    spec = spec_of(imported.folders[0])
    expected = [
        {"workload": "w1", "M": 3, "scale": 0.5, "seed": 1},
        {"workload": "w2", "M": 64, "scale": 0.5, "seed": 2},
    ]
    assert expected == [dict(case.args) for case in spec.benchmarks]
    assert ["scaled_add_k4"] == [folder.name for folder in imported.folders]


def test_one_definition_finds_its_workloads(tmp_path: Path) -> None:
    suite = lay_flashinfer(tmp_path / "suite")
    file = next(suite.glob("definitions/*/*.json"))
    imported = import_problems("flashinfer-bench", file, tmp_path / "out")
    assert 1 == len(imported.folders)


def test_a_problem_of_tensara_is_named_by_its_folder(tmp_path: Path) -> None:
    suite = lay_tensara(tmp_path / "suite")
    imported = import_problems("tensara", suite, tmp_path / "out")
    folder = imported.folders[0]
    spec = spec_of(folder)
    assert ("twice", [{"case": 0, "seed": 1}, {"case": 1, "seed": 2}]) == (
        folder.name,
        [dict(case.args) for case in spec.benchmarks],
    )
    assert load_problem(folder).definition.description.startswith("# Twice\n\nDouble each value.\n")
    assert "def solution(values, doubled, n):" in (folder / "starter.py").read_text()
    assert BASELINE == (folder / "solutions" / "correct" / "baseline.py").read_text()


def test_everything_wrong_is_reported_and_the_rest_imported(tmp_path: Path) -> None:
    suite = lay_kernelbench(tmp_path / "suite").parent
    lay_kernelbench(suite, "def get_inputs(rows):\n    return []\n", "2_half.py")
    lay_kernelbench(suite, "class Model(:\n", "3_broken.py")
    lay_kernelbench(suite, MODEL, "a'; echo x.py")
    lay_kernelbench(suite, "print('no problem of the suite')\n", "setup.py")
    (suite / "level1" / "4_bytes.py").write_bytes(b"\xff\xfe")
    (suite / "level1" / "5_long.py").write_bytes(b"#" * (10 << 20))
    (suite / "level1" / "6_away.py").symlink_to("/etc/passwd")
    imported = import_problems("kernelbench", suite, tmp_path / "out")
    assert ["level1_1_Scale"] == [folder.name for folder in imported.folders]
    assert [
        "level1/2_half.py: defines no class `Model`",
        "level1/2_half.py:1: `get_inputs` must be callable without arguments",
        "level1/2_half.py: defines no function `get_init_inputs`",
        "level1/3_broken.py:1: not valid Python: invalid syntax",
        "level1/4_bytes.py: `level1/4_bytes.py` isn't a text file in UTF-8",
        "level1/5_long.py: `level1/5_long.py` is larger than 1 MiB",
        "level1/6_away.py: `level1/6_away.py` leaves the checkout (suite)",
        f"level1/a'; echo x.py: \"level1_a'; echo x\" can't be a problem's name: {NAME_RULE}",
    ] == refusals(imported)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"op_type": "sampling"}, "op_type: `sampling` can't be judged"),
        ({"name": "../../x"}, "'.._.._x' can't be a problem's name"),
        ({"axes": {"M": {"type": "var"}}}, "inputs.a.shape: no axis is called 'K'"),
        ({"axes": {"seed": {"type": "var"}}}, "'seed' can't be the name of an argument"),
        ({"outputs": {"a": {"shape": None, "dtype": "bool"}}}, "`a` is an output and something"),
        ({"outputs": {}}, "outputs: Dictionary should have at least 1 item"),
        ({"inputs": {"a'; echo x": {"shape": None, "dtype": "int8"}}}, "can't be the name"),
        ({"inputs": {"a": {"shape": [], "dtype": "float3"}}}, "inputs.a.dtype: Input should be"),
        ({"reference": "def runs(): ..."}, "reference: defines no function `run`"),
        ({"reference": "\n\ndef run("}, "reference: not valid Python: '(' was never closed"),
    ],
)
def test_a_definition_that_cannot_be_judged(
    tmp_path: Path, changes: dict[str, object], expected: str
) -> None:
    suite = lay_flashinfer(tmp_path / "suite")
    lay_flashinfer(suite, {**DEFINITION, "name": "other", **changes})
    imported = import_problems("flashinfer-bench", suite, tmp_path / "out")
    assert ["scaled_add_k4"] == [folder.name for folder in imported.folders]
    assert expected in "\n".join(refusals(imported))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"axes": {}}, ":1: workload.axes: no value for `M`"),
        ({"axes": {"M": -1}}, ":1: workload.axes.M: can't be negative"),
        ({"axes": {"M": True}}, ":1: workload.axes.M: Input should be a valid integer"),
        ({"uuid": "a; b"}, "text in a case can't hold `;`"),
        ({"inputs": {"a": {"type": "scalar"}}}, ":1: workload.inputs.a: a scalar without a value"),
        (
            {"inputs": {"a": {"type": "safetensors"}}},
            "no workload can be imported: a has no `path` or no `tensor_key`",
        ),
    ],
)
def test_a_workload_that_cannot_be_made(
    tmp_path: Path, changes: dict[str, Any], expected: str
) -> None:
    suite = lay_flashinfer(tmp_path / "suite", lines=[record(**changes)])
    imported = import_problems("flashinfer-bench", suite, tmp_path / "out")
    assert () == imported.folders
    assert expected in "\n".join(refusals(imported))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("(Problem)", "", "defines no class derived from `Problem`"),
        ("verify_result", "verify", ":5: `twice` has no method `verify_result`"),
        ("in sizes", "in sorted(sizes)", "must go through lists that it writes out"),
        ('"values"', '"a\'; echo x"', "can't be an argument's name"),
        ('"pointer": True, "const": True', "", "isn't a list of maps with names"),
    ],
)
def test_a_problem_of_tensara_that_cannot_be_read(
    tmp_path: Path, old: str, new: str, expected: str
) -> None:
    suite = lay_tensara(tmp_path / "suite", TENSARA.replace(old, new, 1))
    imported = import_problems("tensara", suite, tmp_path / "out")
    assert () == imported.folders
    assert expected in "\n".join(refusals(imported))


def test_a_folder_that_exists_is_left_alone(tmp_path: Path) -> None:
    suite = lay_kernelbench(tmp_path / "suite")
    mine = tmp_path / "out" / "1_Scale"
    mine.mkdir(parents=True)
    imported = import_problems("kernelbench", suite, tmp_path / "out")
    assert [f"1_Scale.py: {mine} already exists; move it away, or use another --into"] == refusals(
        imported
    )
    assert [mine] == list((tmp_path / "out").iterdir())


def test_a_competition_file_lists_what_was_imported(tmp_path: Path) -> None:
    suite, out = lay_kernelbench(tmp_path / "suite").parent, tmp_path / "out"
    import_problems("kernelbench", suite, out, devices=["CPU"], competition="spring")
    listed = load_competition(out / "spring.yaml").problems
    assert [("level1_1_Scale", ("CPU",))] == [(one.name, one.devices) for one in listed]
    for name, kind in (("spring", Conflict), ("../x", InvalidProblem)):
        with pytest.raises(kind):
            import_problems("kernelbench", suite, out, competition=name)


def test_a_statement_with_half_a_character_can_be_stored(tmp_path: Path) -> None:
    suite = lay_kernelbench(tmp_path, MODEL.replace("Scales", "\\ud800\\0"))
    imported = import_problems("kernelbench", suite, tmp_path / "out")
    assert load_problem(imported.folders[0]).definition.description.startswith("?? what a layer")


def test_a_file_of_the_suite_is_never_run(tmp_path: Path) -> None:
    suite = lay_kernelbench(tmp_path / "suite", MODEL + f"\nopen({str(tmp_path / 'x')!r}, 'w')\n")
    import_problems("kernelbench", suite, tmp_path / "out")
    assert not (tmp_path / "x").exists()


def test_a_path_without_problems(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        import_problems("tensara", tmp_path / "nowhere", tmp_path)
    with pytest.raises(InvalidProblem, match="holds no problem of tensara"):
        import_problems("tensara", tmp_path, tmp_path)


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    suite = lay_kernelbench(tmp_path / "suite")
    with pytest.raises(UserError, match="can't be written"):
        import_problems("kernelbench", suite, Path("/proc/x"))


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    lay_kernelbench(tmp_path / "suite")
    with small_disk("8k") as disk:
        with pytest.raises(UserError, match=rf"^{disk}/out/\S+ can't be written"):
            import_problems("kernelbench", tmp_path / "suite", disk / "out", devices=["H100"])
        assert [] == list((disk / "out").iterdir())
