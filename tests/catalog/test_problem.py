import os
from pathlib import Path

import pytest

from kernelbot.catalog.problem import load_problem
from kernelbot.domain.errors import Finding, InvalidProblem
from kernelbot.protocol import (
    Case,
    Floor,
    HarnessKind,
    Lang,
    NumberType,
    ProblemSpec,
    RankRule,
    Timeouts,
)
from tests.catalog.folders import REFERENCE, TASK, write_problem


def load(tmp_path: Path, task: str = TASK, reference: str | None = REFERENCE) -> ProblemSpec:
    return load_problem(write_problem(tmp_path, task, reference=reference)).definition.spec


def mistakes(
    tmp_path: Path, task: str, reference: str | None = REFERENCE, *, git: bool = True
) -> tuple[Finding, ...]:
    folder = write_problem(tmp_path, task, reference=reference, git=git)
    with pytest.raises(InvalidProblem) as caught:
        load_problem(folder)
    return caught.value.findings


def test_a_small_problem_is_read_whole(tmp_path: Path) -> None:
    spec = load(tmp_path)
    assert ("problem", Lang.PY, HarnessKind.NATIVE) == (spec.name, spec.lang, spec.harness)
    assert (Case({"size": 4, "seed": 1}),) == spec.tests
    assert (Case({"size": 8, "seed": 2}),) == spec.benchmarks
    assert ["reference.py"] == [file.name for file in spec.files]
    assert "submission.py" == spec.submission_name
    assert (RankRule.LAST, Timeouts()) == (spec.ranking_by, spec.timeouts)


def test_every_further_key_is_read(tmp_path: Path) -> None:
    task = TASK + (
        "test_timeout: 10\nbenchmark_timeout: 20.5\nranked_timeout: 30\nranking_by: geom\n"
        "fresh_output: true\ninputs_unchanged: true\ncontiguous: true\nrecurring_data: true\n"
        "floor: {flops: 100, bytes: 200, type: fp8}\n"
        "gpus: [CPU, H100]\ntemplates: {Python: reference.py}\n"
        "config: {main: eval.py, outputs: [0]}\n"
    )
    definition = load_problem(write_problem(tmp_path, task)).definition
    spec = definition.spec
    assert Timeouts(test_s=10.0, benchmark_s=20.5, ranked_s=30.0) == spec.timeouts
    assert (
        spec.ranking_by,
        spec.fresh_output,
        spec.inputs_unchanged,
        spec.contiguous,
        spec.recurring_data,
    ) == (RankRule.GEOM, True, True, True, True)
    assert (Floor(100.0, 200.0, NumberType.FP8),) == spec.floors
    assert (None, (0,)) == (spec.anchor, spec.config.outputs)
    assert (("CPU", "H100"), {"Python": REFERENCE}) == (definition.devices, definition.templates)


def test_unknown_keys_warn_with_name_and_line(tmp_path: Path) -> None:
    loaded = load_problem(write_problem(tmp_path, TASK + "colour: blue\n"))
    assert (Finding("task.yml", "colour", 10, "unknown key, ignored"),) == loaded.warnings


@pytest.mark.parametrize("key", ["files", "lang", "description", "tests", "benchmarks"])
def test_a_missing_key_is_named(tmp_path: Path, key: str) -> None:
    lines = TASK.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"{key}:"))
    rest = [i for i in range(start + 1, len(lines)) if not lines[i].startswith(" ")]
    end = rest[0] if rest else len(lines)
    found = mistakes(tmp_path, "\n".join(lines[:start] + lines[end:]))
    assert (key, "missing") in [(finding.key, finding.message) for finding in found]


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("lang: rust", "lang"),
        ("lang: 3", "lang"),
        ("lang: [py]", "lang"),
        ("description: 3", "description"),
        ("description: [a]", "description"),
        ("files: submission.py", "files"),
        ("files: [submission.py]", "files[0]"),
        ("files: [{name: 3, source: x}]", "files[0].name"),
        ("files: [{name: a/b.py, source: '@SUBMISSION@'}]", "files[0].name"),
        ("files: [{name: .., source: '@SUBMISSION@'}]", "files[0].name"),
        ("files: [{name: reference.py, source: reference.py}]", "files"),
        ("config: eval.py", "config"),
        ("config: {main: 3}", "config.main"),
        ("config: {sources: x}", "config.sources"),
        ("config: {sources: [3]}", "config.sources[0]"),
        ("config: {defines: [x]}", "config.defines"),
        ("config: {defines: {A: [x]}}", "config.defines.A"),
        ("config: {outputs: [true]}", "config.outputs[0]"),
        ("config: {outputs: [-1]}", "config.outputs[0]"),
        ("tests: 3", "tests"),
        ("tests: {size: 3}", "tests"),
        ("tests: []", "tests"),
        ("tests: [3]", "tests[0]"),
        ("tests: [{size: {a: 1}, seed: 1}]", "tests[0].size"),
        ("tests: [{size: null, seed: 1}]", "tests[0].size"),
        ("tests: [{size: .nan, seed: 1}]", "tests[0].size"),
        ("tests: [{size: 99999999999999999999, seed: 1}]", "tests[0].size"),
        ("tests: [{size: 1, seed: true}]", "tests[0].seed"),
        ("tests: [{size: 1, seed: one}]", "tests[0].seed"),
        ("tests: [{size: 1, seed: 1, case: 'a; seed: 7'}]", "tests[0].case"),
        ('tests: [{size: 1, seed: 1, case: "a\\nb"}]', "tests[0].case"),
        ("tests: [{size: 1}]", "tests[0]"),
        ("tests: [{size: 1, seed: 1, colour: 3}]", "tests[0]"),
        ("tests: [{size: 1, seed: 1, 'a b': 3}]", "tests[0].a b"),
        ("benchmarks: nope", "benchmarks"),
        ("test_timeout: fast", "test_timeout"),
        ("test_timeout: true", "test_timeout"),
        ("test_timeout: 0", "test_timeout"),
        ("benchmark_timeout: -1", "benchmark_timeout"),
        ("ranked_timeout: .inf", "ranked_timeout"),
        ("ranked_timeout: 1e9", "ranked_timeout"),
        ("ranking_by: best", "ranking_by"),
        ("multi_gpu: 1", "multi_gpu"),
        ("multi_gpu: 'yes'", "multi_gpu"),
        ("gpus: CPU", "gpus"),
        ("gpus: [3]", "gpus[0]"),
        ("templates: [x]", "templates"),
        ("templates: {Python: 3}", "templates.Python"),
        ("templates: {Python: nowhere.py}", "templates.Python"),
        ("harness: fast", "harness"),
        ("fresh_output: 1", "fresh_output"),
        ("inputs_unchanged: maybe", "inputs_unchanged"),
        ("contiguous: rows", "contiguous"),
        ("floor: 3", "floor"),
        ("floor: [{flops: 1}, {flops: 2}]", "floor"),
        ("floor: {flops: fast}", "floor.flops"),
        ("floor: {flops: 1, type: float}", "floor.type"),
        ("floor: {flops: 1, type: [fp8]}", "floor.type"),
        ("floor: {bytes: -1}", "floor.bytes"),
        ("anchor: nowhere.py", "anchor"),
        ("anchor: reference.py", "anchor"),
        ("libraries: torch", "libraries"),
        ("seed: x", "seed"),
    ],
)
def test_a_wrong_value_names_its_key_and_line(tmp_path: Path, line: str, key: str) -> None:
    name = line.partition(":")[0]
    kept: list[str] = []
    keeping = True
    for old in TASK.splitlines():
        if not old.startswith(" "):
            keeping = not old.startswith(f"{name}:")
        if keeping:
            kept.append(old)
    found = mistakes(tmp_path, "\n".join([*kept, line]))
    assert (key, len(kept) + 1) in [(finding.key, finding.line) for finding in found]


def with_anchor(tmp_path: Path, text: str, more: str = "") -> Path:
    listed = 'files:\n  - {"name": "anchor.py", "source": "anchor.py"}\n'
    task = TASK.replace("files:\n", listed) + "anchor: anchor.py\n" + more
    folder = write_problem(tmp_path, task)
    (folder / "anchor.py").write_text(text)
    return folder


def test_an_anchor_has_a_file_of_its_own(tmp_path: Path) -> None:
    folder = with_anchor(tmp_path, "def custom_kernel(data):\n    return data\n")
    assert "anchor.py" == load_problem(folder).definition.spec.anchor


@pytest.mark.parametrize(
    ("text", "more", "said"),
    [
        ("x = 1\n", "", "`anchor.py` defines no custom_kernel"),
        (
            "custom_kernel = print\n",
            "harness: script\nconfig: {main: reference.py}\n",
            "a problem judged by its own script has no anchor",
        ),
    ],
)
def test_an_anchor_that_can_not_serve_is_an_error(
    tmp_path: Path, text: str, more: str, said: str
) -> None:
    with pytest.raises(InvalidProblem) as caught:
        load_problem(with_anchor(tmp_path, text, more))
    assert [("anchor", said)] == [(found.key, found.message) for found in caught.value.findings]


@pytest.mark.parametrize("source", ["../../../../../../etc/passwd", "/etc/passwd", "link.py"])
@pytest.mark.parametrize("git", [True, False])
def test_a_source_may_not_leave_the_checkout(tmp_path: Path, source: str, git: bool) -> None:
    task = TASK.replace('"source": "reference.py"', f'"source": "{source}"')
    folder = write_problem(tmp_path, task, git=git)
    (folder / "link.py").symlink_to("/etc/passwd")
    with pytest.raises(InvalidProblem, match="leaves the checkout") as caught:
        load_problem(folder)
    assert (
        caught.value.findings[0].key,
        caught.value.findings[0].line,
    ) == ("files[1].source", 3)


def test_a_source_may_go_up_inside_the_checkout(tmp_path: Path) -> None:
    task = TASK.replace('"source": "reference.py"', '"source": "../shared.py"')
    folder = write_problem(tmp_path, task, reference=None)
    (tmp_path / "shared.py").write_text(REFERENCE)
    assert load_problem(folder).definition.spec.files[0].text == REFERENCE


def test_the_root_can_be_given(tmp_path: Path) -> None:
    task = TASK.replace('"source": "reference.py"', '"source": "../shared.py"')
    folder = write_problem(tmp_path, task, reference=None)
    (tmp_path / "shared.py").write_text(REFERENCE)
    with pytest.raises(InvalidProblem, match="leaves the checkout"):
        load_problem(folder, root=folder)


def test_a_source_that_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    folder = write_problem(tmp_path, reference=None)
    os.mkfifo(folder / "reference.py")
    with pytest.raises(InvalidProblem, match="no such file"):
        load_problem(folder)


def test_a_binary_source_is_refused(tmp_path: Path) -> None:
    folder = write_problem(tmp_path)
    (folder / "reference.py").write_bytes(b"\x7fELF\0\xff")
    with pytest.raises(InvalidProblem, match="isn't a text file in UTF-8"):
        load_problem(folder)


def test_a_giant_source_is_refused(tmp_path: Path) -> None:
    folder = write_problem(tmp_path, reference="#" * (2 << 20))
    with pytest.raises(InvalidProblem, match="larger than 1 MiB"):
        load_problem(folder)


def test_a_million_tests_are_refused_by_size(tmp_path: Path) -> None:
    lines = '  - {"size": 4, "seed": 1}\n' * 1_000_000
    task = TASK.replace("tests:\n", f"tests:\n{lines}")
    found = mistakes(tmp_path, task)
    assert [Finding("task.yml", "", None, "larger than 256 KiB; write fewer cases")] == list(found)


def test_more_than_a_thousand_tests_are_refused_by_count(tmp_path: Path) -> None:
    task = TASK.replace("tests:\n", "tests:\n" + '  - {"size": 4, "seed": 1}\n' * 1001, 1)
    assert "1002 cases; at most 1000 are accepted" == mistakes(tmp_path, task)[0].message


def test_a_reference_that_is_no_python_names_its_line(tmp_path: Path) -> None:
    found = mistakes(tmp_path, TASK, "x = 1\ndef broken(:\n")
    assert [("reference.py", 2)] == [(finding.file, finding.line) for finding in found]


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidProblem, match=r"There is no folder .*nowhere"):
        load_problem(tmp_path / "nowhere")


def test_all_mistakes_are_listed_at_once(tmp_path: Path) -> None:
    found = mistakes(tmp_path, TASK + "ranking_by: best\ntest_timeout: x\ngpus: 3\n")
    assert ["ranking_by", "test_timeout", "gpus"] == [finding.key for finding in found]


def test_the_message_names_file_key_and_line(tmp_path: Path) -> None:
    folder = write_problem(tmp_path, TASK + "ranking_by: best\n")
    with pytest.raises(InvalidProblem, match=r"task\.yml:10: ranking_by: must be one of last"):
        load_problem(folder)


def test_without_a_checker_the_script_judges(tmp_path: Path) -> None:
    task = TASK + "config: {main: submission.py}\n"
    spec = load(tmp_path, task, "def generate_input(size, seed): ...\n")
    assert (
        spec.harness,
        "no check_implementation" in spec.harness_reason,
    ) == (HarnessKind.SCRIPT, True)


def test_a_script_problem_needs_its_main(tmp_path: Path) -> None:
    found = mistakes(tmp_path, TASK + "harness: script\nconfig: {main: eval.py}\n")
    assert [("config.main", "`eval.py` isn't among `files`")] == [(f.key, f.message) for f in found]


def test_native_needs_what_the_reference_offers(tmp_path: Path) -> None:
    found = mistakes(tmp_path, TASK + "harness: native\n", "x = 1\n")
    assert "harness" == found[0].key


def test_a_multi_gpu_case_needs_world_size(tmp_path: Path) -> None:
    found = mistakes(tmp_path, TASK + "multi_gpu: true\n")
    assert ["tests[0].world_size", "benchmarks[0].world_size"] == [f.key for f in found]


RANKS = (
    TASK.replace('"seed":', '"world_size": 2, "seed":')
    + "multi_gpu: true\nconfig: {main: reference.py}\n"
)
FOR_RANKS = (
    "def generate_input(size, seed, rank, world_size): ...\ndef check_implementation(d, o): ...\n"
)


def test_a_multi_gpu_problem_whose_generator_takes_ranks_is_native(tmp_path: Path) -> None:
    assert HarnessKind.NATIVE == load(tmp_path, RANKS, FOR_RANKS).harness


def test_a_multi_gpu_problem_whose_generator_takes_no_rank_is_a_script_one(tmp_path: Path) -> None:
    reference = FOR_RANKS.replace(" rank,", "")
    spec = load(tmp_path, RANKS, reference)
    assert (HarnessKind.SCRIPT, True) == (spec.harness, "rank" in spec.harness_reason)


@pytest.mark.parametrize("size", ["0", "-1", "17"])
def test_a_world_size_has_bounds(tmp_path: Path, size: str) -> None:
    found = mistakes(tmp_path, RANKS.replace('"world_size": 2', f'"world_size": {size}'), FOR_RANKS)
    assert "tests[0].world_size" == found[0].key


OWN_CLASS = """class Cache: ...

def generate_input(size, seed):
    cache = Cache().to('cuda')
    return size, cache

check_implementation = print
"""


def test_runners_get_the_classes_of_the_input_but_not_the_reference(tmp_path: Path) -> None:
    spec = load(tmp_path, TASK, OWN_CLASS)
    assert (HarnessKind.NATIVE, "class Cache: ...\n") == (spec.harness, spec.input_classes)


def test_a_class_that_needs_the_reference_makes_a_script_problem(tmp_path: Path) -> None:
    reference = OWN_CLASS.replace(": ...", ":\n    make = lambda self: generate_input(1, 2)", 1)
    spec = load(tmp_path, TASK + "config: {main: reference.py}\n", reference)
    assert (HarnessKind.SCRIPT, "") == (spec.harness, spec.input_classes)
    assert "Cache can't do without generate_input" in spec.harness_reason


COMPILED = TASK.replace("submission.py", "submission.cu").replace("lang: py", "lang: cu")


def test_a_compiled_problem_compiles_the_submission_unless_told(tmp_path: Path) -> None:
    spec = load(
        tmp_path, COMPILED + "config: {compile_flags: [-O2], defines: {N: 4, FAST: true}}\n"
    )
    assert (HarnessKind.NATIVE, ("submission.cu",)) == (spec.harness, spec.config.sources)
    assert {"N": "4", "FAST": "1"} == spec.config.defines


def test_a_compiled_problem_with_its_own_main_is_a_script_problem(tmp_path: Path) -> None:
    task = (
        COMPILED.replace("lang:", '  - {"name": "eval.cu", "source": "eval.cu"}\nlang:')
        + "config: {sources: [eval.cu, submission.cu]}\n"
    )
    folder = write_problem(tmp_path, task)
    (folder / "eval.cu").write_text("int main(int argc, char** argv) { return 0; }\n")
    assert HarnessKind.SCRIPT == load_problem(folder).definition.spec.harness


def test_a_source_to_compile_must_be_among_the_files(tmp_path: Path) -> None:
    found = mistakes(tmp_path, COMPILED + "config: {sources: [other.cu]}\n")
    assert ["config.sources"] == [finding.key for finding in found]
