"""Reads a problem folder into a `ProblemDefinition`, or says everything that is wrong with it."""

import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from kernelbot.boards.model import ProblemDefinition
from kernelbot.catalog.cases import read_cases, read_floors
from kernelbot.catalog.document import MAX_TEXT_BYTES, DocumentItem, parse
from kernelbot.catalog.fields import DefinitionFindings, Fields
from kernelbot.catalog.harness_choice import SUPPLIED_TO_RANKS, HarnessChoice, choose
from kernelbot.catalog.listing import read_listing
from kernelbot.catalog.oracle import right_solutions
from kernelbot.catalog.reference import REFERENCE, TASK, Reference, read_reference
from kernelbot.catalog.sources import TASK_FILE, Checkout
from kernelbot.domain.errors import Finding, InvalidProblem
from kernelbot.protocol import (
    BuildConfig,
    Case,
    HarnessKind,
    Lang,
    ProblemSpec,
    RankRule,
    SourceFile,
    Timeouts,
)
from kernelbot.protocol.late import dataclass

SUBMISSION = "@SUBMISSION@"
MAX_TIMEOUT_S = 24 * 3600.0
MAX_FILES = 200
TEMPLATE_WORDS = ("Python", "CUDA", "C++", "Triton", "HIP", "CuteDSL")
_NO_ANCHORS = (REFERENCE, TASK, "task.h", "utils.py")

FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")


@dataclass(frozen=True)
class LoadedProblem:
    """A problem that can be judged, and warnings for its author."""

    definition: ProblemDefinition
    warnings: tuple[Finding, ...]
    folder: Path


@dataclass
class _Files:
    """What was read of a problem's folder."""

    texts: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    submission: str | None = None


def load_problem(folder: Path, *, root: Path | None = None) -> LoadedProblem:
    """Read `folder/task.yml` and the files it names; the problem has the folder's name.

    `root` is the checkout that sources may not leave (see `Checkout.around` for its default).
    Raises InvalidProblem with every mistake as a Finding. Nothing of the folder is executed.
    """
    if not folder.is_dir():
        raise InvalidProblem(
            f"There is no folder {folder}.", hint="Name a problem's folder: it holds task.yml."
        )
    findings = DefinitionFindings(TASK_FILE)
    checkout = Checkout.around(folder, root)
    tree = _read_tree(checkout, findings)
    loaded = _read(tree, checkout.folder.name, checkout, findings) if tree else None
    if findings.errors or loaded is None:
        raise InvalidProblem.listing(f"The problem in {folder}", findings.errors)
    return LoadedProblem(loaded, tuple(findings.warnings), checkout.folder)


def _read_tree(checkout: Checkout, findings: DefinitionFindings) -> DocumentItem | None:
    path = checkout.folder / TASK_FILE
    try:
        if path.is_file() and path.stat().st_size > MAX_TEXT_BYTES:
            findings.error("", None, f"larger than {MAX_TEXT_BYTES >> 10} KiB; write fewer cases")
            return None
    except OSError:
        pass  # reading it below reports what is wrong
    text = checkout.read(TASK_FILE, "", None, findings)
    if text is None:
        return None
    tree, mistakes = parse(text, TASK_FILE)
    findings.errors += mistakes
    return tree


def _read(
    tree: DocumentItem, name: str, checkout: Checkout, findings: DefinitionFindings
) -> ProblemDefinition | None:
    fields = Fields(tree, "", findings)
    if not isinstance(tree.value, Mapping):
        return None
    files = _read_files(fields, checkout, findings)
    lang = fields.choice("lang", Lang, required=True)
    description = fields.text("description", required=True)
    said = read_listing(fields, findings)
    multi_gpu = fields.flag("multi_gpu")
    tests = read_cases(fields, "tests", findings, multi_gpu=multi_gpu)
    benchmarks = read_cases(fields, "benchmarks", findings, multi_gpu=multi_gpu)
    reference = _read_reference(files, findings)
    _compare_arguments(reference, {"tests": tests, "benchmarks": benchmarks}, multi_gpu, findings)
    config = _read_config(fields, lang, files)
    wished = fields.choice("harness", HarnessKind)
    choice = choose(
        lang or Lang.PY, config, files.texts, reference, multi_gpu=multi_gpu, wished=wished
    )
    _check_harness(fields, choice, wished, config, files, findings)
    spec = ProblemSpec(
        name=name,
        lang=lang or Lang.PY,
        harness=choice.kind,
        harness_reason=choice.reason,
        files=tuple(SourceFile(name, text) for name, text in files.texts.items()),
        submission_name=files.submission or "submission.py",
        config=config,
        tests=_cases(tests),
        benchmarks=_cases(benchmarks),
        ranking_by=fields.choice("ranking_by", RankRule) or RankRule.LAST,
        timeouts=_read_timeouts(fields),
        multi_gpu=multi_gpu,
        fresh_output=fields.flag("fresh_output"),
        inputs_unchanged=fields.flag("inputs_unchanged"),
        contiguous=fields.flag("contiguous"),
        recurring_data=fields.flag("recurring_data"),
        floors=read_floors(fields, findings, len(benchmarks)),
        anchor=_read_anchor(fields, files, config, choice.kind, multi_gpu, findings),
        input_classes=_input_classes(reference, choice.kind),
    )
    devices = tuple(dict.fromkeys(text for text, _ in fields.texts("gpus")))
    templates = _read_templates(fields, checkout, findings)
    _read_rare(fields)
    fields.warn_unknown()
    solutions = right_solutions(checkout.folder, spec.submission_name)
    return ProblemDefinition(
        spec,
        description,
        devices,
        templates,
        solutions,
        summary=said.summary,
        difficulty=said.difficulty,
        tags=said.tags,
    )


def _input_classes(reference: Reference | None, kind: HarnessKind) -> str:
    if reference is None or kind is HarnessKind.SCRIPT:
        return ""
    return reference.input_classes.text


def _cases(cases: tuple[tuple[Case, int], ...]) -> tuple[Case, ...]:
    return tuple(case for case, _ in cases)


def _read_files(fields: Fields, checkout: Checkout, findings: DefinitionFindings) -> _Files:
    files = _Files()
    items = fields.items("files", required=True)
    if len(items) > MAX_FILES:
        findings.error("files", items[0].line, f"{len(items)} files; at most {MAX_FILES}")
        return files
    for index, item in enumerate(items):
        entry = Fields(item, f"files[{index}]", findings)
        _read_file(entry, files, checkout, findings)
        entry.warn_unknown()
    if items and files.submission is None:
        findings.error("files", items[0].line, f"none of them has the source `{SUBMISSION}`")
    return files


def _read_file(
    entry: Fields, files: _Files, checkout: Checkout, findings: DefinitionFindings
) -> None:
    name = entry.text("name", required=True)
    source = entry.text("source", required=True)
    if not name or not source:
        return
    key = entry.key("name")
    if not FILE_NAME.fullmatch(name):
        findings.error(key, entry.line, f"`{name}` isn't a plain file name (letters, digits, ._+-)")
        return
    if name in files.lines:
        findings.error(key, entry.line, f"`{name}` is listed twice")
        return
    files.lines[name] = entry.line
    if source != SUBMISSION:
        text = checkout.read(source, entry.key("source"), entry.line, findings)
        files.texts[name] = text or ""
    elif files.submission is None:
        files.submission = name
    else:
        findings.error(entry.key("source"), entry.line, f"a second `{SUBMISSION}`")


def _read_reference(files: _Files, findings: DefinitionFindings) -> Reference | None:
    text = files.texts.get(REFERENCE)
    if text is None:
        return None
    try:
        return read_reference(text)
    except SyntaxError as error:
        findings.error("", error.lineno, f"not valid Python: {error.msg}", file=REFERENCE)
        return None


def _compare_arguments(
    reference: Reference | None,
    lists: Mapping[str, tuple[tuple[Case, int], ...]],
    multi_gpu: bool,
    findings: DefinitionFindings,
) -> None:
    if reference is None or reference.signature is None:
        return
    supplied = SUPPLIED_TO_RANKS if multi_gpu else frozenset()
    for name, cases in lists.items():
        for index, (case, line) in enumerate(cases):
            trouble = reference.signature.trouble(frozenset(case.args) - supplied, supplied)
            if trouble:
                findings.error(f"{name}[{index}]", line, trouble)


def _read_config(fields: Fields, lang: Lang | None, files: _Files) -> BuildConfig:
    is_compiled = lang is not None and lang.is_compiled
    config = fields.mapping("config", required=is_compiled)
    submission = files.submission or ""
    if config is None:
        return BuildConfig(sources=(submission,) if is_compiled else ())
    built = BuildConfig(
        main=config.text("main") or None,
        sources=_texts(config, "sources") or ((submission,) if is_compiled else ()),
        include_dirs=_texts(config, "include_dirs"),
        defines=_read_defines(config),
        compile_flags=_texts(config, "compile_flags"),
        outputs=_read_outputs(config),
    )
    config.warn_unknown()
    return built


def _texts(fields: Fields, name: str) -> tuple[str, ...]:
    return tuple(text for text, _ in fields.texts(name))


def _read_defines(config: Fields) -> dict[str, str]:
    defines = config.mapping("defines")
    if defines is None:
        return {}
    found: dict[str, str] = {}
    for name, item in defines.rest():
        if isinstance(item.value, bool):
            found[name] = str(int(item.value))
        elif isinstance(item.value, str | int | float):
            found[name] = str(item.value)
        elif item.value is None:
            found[name] = ""
        else:
            defines.wrong(name, item, "text or a number")
    return found


def _read_outputs(config: Fields) -> tuple[int, ...]:
    found: list[int] = []
    for index, item in enumerate(config.items("outputs")):
        if isinstance(item.value, int) and not isinstance(item.value, bool) and item.value >= 0:
            found.append(item.value)
        else:
            config.wrong(f"outputs[{index}]", item, "the index of an input, from 0")
    return tuple(found)


def _check_harness(
    fields: Fields,
    choice: HarnessChoice,
    wished: HarnessKind | None,
    config: BuildConfig,
    files: _Files,
    findings: DefinitionFindings,
) -> None:
    """Check that the chosen harness has what it needs, and that named files are listed."""
    if findings.errors:
        return  # a broken file list has been reported; these would be consequences of it
    names = {*files.texts, files.submission}
    config_item = fields.take("config")
    line = config_item.line if config_item else fields.line
    for source in config.sources:
        if source not in names:
            findings.error("config.sources", line, f"`{source}` isn't among `files`")
    if wished is HarnessKind.NATIVE and not choice.natively_possible:
        findings.error("harness", fields.line, f"can't be native. {choice.reason}")
    elif choice.kind is HarnessKind.SCRIPT and not config.sources:
        if config.main is None and choice.obstacle and wished is None:
            rest = "correct that, or name a script of the problem's own by `config.main`"
            findings.error("", line, f"{choice.obstacle}; {rest}")
        elif config.main is None:
            findings.error("config.main", line, f"missing. {choice.reason}")
        elif config.main not in names:
            findings.error("config.main", line, f"`{config.main}` isn't among `files`")


def _read_timeouts(fields: Fields) -> Timeouts:
    usual = Timeouts()
    return Timeouts(
        test_s=fields.seconds("test_timeout", default=usual.test_s, max_s=MAX_TIMEOUT_S),
        benchmark_s=fields.seconds(
            "benchmark_timeout", default=usual.benchmark_s, max_s=MAX_TIMEOUT_S
        ),
        ranked_s=fields.seconds("ranked_timeout", default=usual.ranked_s, max_s=MAX_TIMEOUT_S),
        compile_s=fields.seconds("compile_timeout", default=usual.compile_s, max_s=MAX_TIMEOUT_S),
    )


def _read_anchor(
    fields: Fields,
    files: _Files,
    config: BuildConfig,
    kind: HarnessKind,
    multi_gpu: bool,
    findings: DefinitionFindings,
) -> str | None:
    """The anchor: a file with no other purpose, since no runner of a submission gets it."""
    anchor = fields.text("anchor")
    if not anchor:
        return None
    complaint = None
    if anchor not in files.texts:
        complaint = f"`{anchor}` isn't among `files`"
    elif kind is HarnessKind.SCRIPT:
        complaint = "a problem judged by its own script has no anchor"
    elif multi_gpu:
        complaint = "a problem of several ranks has no anchor"
    elif anchor in (*_NO_ANCHORS, config.main, *config.sources):
        complaint = f"`{anchor}` has another purpose already; an anchor needs a file of its own"
    elif "custom_kernel" not in files.texts[anchor]:
        complaint = f"`{anchor}` defines no custom_kernel"
    if complaint is not None:
        item = fields.take("anchor")
        findings.error("anchor", item.line if item else None, complaint)
    return anchor


def _read_templates(
    fields: Fields, checkout: Checkout, findings: DefinitionFindings
) -> dict[str, str]:
    templates = fields.mapping("templates")
    if templates is None:
        return {}
    found: dict[str, str] = {}
    for word, item in templates.rest():
        if not isinstance(item.value, str):
            templates.wrong(word, item, "the path of a file")
            continue
        if word not in TEMPLATE_WORDS:
            findings.warn(templates.key(word), item.line, f"not one of {', '.join(TEMPLATE_WORDS)}")
        text = checkout.read(item.value, templates.key(word), item.line, findings)
        found[word] = text or ""
    return found


def _read_rare(fields: Fields) -> None:
    """Keys of the format that nothing here uses: they are only checked."""
    fields.texts("libraries")
    seed = fields.take("seed")
    if seed is not None and (isinstance(seed.value, bool) or not isinstance(seed.value, int)):
        fields.wrong("seed", seed, "a whole number")
