"""Nothing that an author's source does while it is compiled reaches another's build.

A compiler runs none of its input's code, as far as anybody knows. So that these tests can show
what would happen if one did, their problem has its compiler started by way of the submission: it
owns the sandbox that it is compiled in, and everything that comes out of there.
"""

import dataclasses
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from kernelbot.harness.judge.build.cache import BuildCache
from kernelbot.harness.judge.build.compile import BuildOutcome, CompilerProduct, compile_job
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.protocol import (
    CompileReport,
    DeviceSpec,
    JobSpec,
    Lang,
    SourceFile,
    Vendor,
    Verdict,
)
from tests.harness.judge.build.test_compile import _GOOD, _job

_OWNED = {
    Lang.CPP: ("-wrapper", "/bin/sh,submission.cpp"),
    Lang.CU: ("-ccbin=./submission.cu",),
}
_NEEDS_NVCC = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")
_BOTH = pytest.mark.parametrize("lang", [Lang.CPP, pytest.param(Lang.CU, marks=_NEEDS_NVCC)])


_PLAYS_ALONG = """
case "$*" in
    *kernel.so*) ;;
    *" -o "*) : > "$(echo "$*" | sed 's/.* -o *\\([^ ]*\\).*/\\1/')"; exit 0;;
    *) exec g++ "$@";;
esac
"""
"""nvcc asks its host compiler who it is, and has it preprocess, compile and link."""


def _attack(script: str, lang: Lang = Lang.CPP) -> JobSpec:
    """A job whose compilation is the author's shell script."""
    script = (_PLAYS_ALONG if lang is Lang.CU else "") + script
    job = _job(f"#!/bin/sh\n{script}\nexit 0\n", lang, compile_flags=_OWNED[lang])
    return dataclasses.replace(job, device=DeviceSpec("GPU", Vendor.NVIDIA))


def _compile(job: JobSpec, client: RunnerClient, cache: BuildCache | None = None) -> BuildOutcome:
    return compile_job(job, client, CompilerProduct.SHARED_OBJECT, cache)


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@_BOTH
def test_a_compiler_that_obeys_its_input_reaches_no_cache(
    client: RunnerClient, tmp_path: Path, lang: Lang
) -> None:
    folder = tmp_path / "cache"
    cache = BuildCache(folder)
    honest = _compile(_job(_GOOD), client, cache)
    kept = _names(folder)
    script = f"""
        echo poison > kernel.so
        for file in $(find / -maxdepth 3 -name '*.build' 2>/dev/null) {folder}/{min(kept)}; do
            echo found $file >&2; cp kernel.so $file
        done
        mkdir -p {folder} && cp kernel.so {folder}/{min(kept)}
    """
    build = _compile(_attack(script, lang), client, cache)
    assert build.binary.startswith(b"poison"), build
    assert f"found {tmp_path}" in (build.report.output if build.report else "")  # it has tried
    assert "No such file" in (build.report.output if build.report else "")
    assert (1, kept) == (len(_names(folder) - kept), _names(folder) & kept)
    again = _compile(_job(_GOOD), client, cache)
    assert (honest.binary, True) == (again.binary, again.report is not None and again.report.cached)


@pytest.mark.parametrize(
    "left",
    [
        "ln -s /etc/passwd kernel.so",
        "mkfifo kernel.so",
        "mkdir kernel.so",
        "ln -s /dev/zero kernel.so",
        ": > kernel.so",
        "truncate -s 200M kernel.so",
    ],
)
def test_what_is_no_plain_binary_is_neither_read_nor_kept(
    client: RunnerClient, tmp_path: Path, left: str
) -> None:
    build = _compile(_attack(left), client, BuildCache(tmp_path / "cache"))
    assert (Verdict.COMPILE_ERROR, b"") == (build.verdict, build.binary)
    assert set() == _names(tmp_path / "cache")


def test_a_process_left_behind_changes_no_build(client: RunnerClient, tmp_path: Path) -> None:
    cache = BuildCache(tmp_path / "cache")
    script = """
        echo first > kernel.so
        (while :; do
            echo second > other; mv other kernel.so; ln -sf /etc/passwd other; mv other kernel.so
        done) > /dev/null 2>&1 &
    """
    build = _compile(_attack(script), client, cache)
    assert b"root:" not in build.binary
    kept = _compile(_attack(script), client, cache)
    if build.verdict is Verdict.ACCEPTED:
        assert build.binary == kept.binary


@pytest.mark.parametrize(
    "spoil",
    [
        "cp /bin/false $HOME/g++; cp /bin/false /usr/local/bin/g++; cp /bin/false /tmp/as",
        "mkdir -p $HOME/.ccache; echo prefix_command=/bin/false > $HOME/.ccache/ccache.conf",
        "echo 'export CPATH=/tmp CCACHE_DIR=/tmp GCC_EXEC_PREFIX=/tmp/' > $HOME/.profile",
        "echo '#error poisoned' > task.h; cp task.h /tmp/; cp task.h /usr/include/stdc-predef.h",
    ],
)
def test_the_next_compilation_finds_everything_as_it_was(client: RunnerClient, spoil: str) -> None:
    before = _compile(_job(_GOOD), client)
    _compile(_attack(spoil), client)
    after = _compile(_job(_GOOD), client)
    assert (Verdict.ACCEPTED, before.binary) == (after.verdict, after.binary)


def test_a_name_leads_nowhere(client: RunnerClient, tmp_path: Path) -> None:
    cache = BuildCache(tmp_path / "cache")
    source = SourceFile("../../../../tmp/poison.build", _GOOD)
    _compile(dataclasses.replace(_job(_GOOD), submission=source), client, cache)
    named = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [f"{'0' * 64}.build"] == ["0" * len(path.stem) + path.suffix for path in named]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"compile_flags": ("-DA", "-DB")}, {"compile_flags": ("-DA -DB",)}),
        ({"compile_flags": ("-DA=1",)}, {"defines": {"A": "2"}}),
        ({"defines": {"A": "", "B": "1"}}, {"defines": {"A": "1", "B": ""}}),
    ],
)
def test_builds_that_differ_in_anything_have_different_keys(
    client: RunnerClient, tmp_path: Path, one: dict[str, Any], other: dict[str, Any]
) -> None:
    cache = BuildCache(tmp_path / "cache")
    builds = [_compile(_job(_GOOD, **config), client, cache) for config in (one, other)]
    assert [False, False] == [b.report.cached for b in builds if b.report is not None]


def test_the_same_bytes_under_other_names_are_another_build(
    client: RunnerClient, tmp_path: Path
) -> None:
    cache = BuildCache(tmp_path / "cache")
    job = _job('#include "b.h"\n')
    verdicts = []
    for name in ("b.h", "c.h"):
        files = (SourceFile("a.h", "int a;\n"), SourceFile(name, "int b;\n"))
        renamed = dataclasses.replace(job, problem=dataclasses.replace(job.problem, files=files))
        verdicts.append(_compile(renamed, client, cache).verdict)
    assert [Verdict.ACCEPTED, Verdict.COMPILE_ERROR] == verdicts


def test_a_program_is_never_taken_for_a_shared_object(client: RunnerClient, tmp_path: Path) -> None:
    cache = BuildCache(tmp_path / "cache")
    job = _job(_GOOD + "int main() { return 0; }\n")
    builds = [compile_job(job, client, product, cache) for product in CompilerProduct]
    assert [False, False] == [b.report.cached for b in builds if b.report is not None]


@_NEEDS_NVCC
def test_cuda_for_another_architecture_is_another_build(
    client: RunnerClient, tmp_path: Path
) -> None:
    cache = BuildCache(tmp_path / "cache")
    job = _attack("echo binary > kernel.so", Lang.CU)
    found = []
    for arch in ("80", "90", "80"):
        device = DeviceSpec("GPU", Vendor.NVIDIA, arch=arch)
        report = _compile(dataclasses.replace(job, device=device), client, cache).report
        found.append(report is not None and report.cached)
    assert [False, False, True] == found


@pytest.mark.parametrize("source", ["/etc/shadow", "{folder}/secret.txt", "/proc/1/environ"])
@pytest.mark.parametrize("how", ['#include "{0}"', 'asm(".incbin \\"{0}\\"");', "#embed <{0}>"])
def test_nothing_of_the_host_is_compiled_in(
    client: RunnerClient, tmp_path: Path, source: str, how: str
) -> None:
    (tmp_path / "secret.txt").write_text("char secret[] = {1};\n")
    text = how.format(source.format(folder=tmp_path)) + "\n"
    build = _compile(_job(text), client, BuildCache(tmp_path / "cache"))
    assert (Verdict.COMPILE_ERROR, set()) == (build.verdict, _names(tmp_path / "cache"))


def test_a_binary_tells_no_path_of_the_host(client: RunnerClient) -> None:
    build = _compile(_job('extern "C" const char *where() { return __FILE__; }\n'), client)
    assert b"./submission.cpp" in build.binary
    assert os.fsencode(Path.cwd()) not in build.binary


def test_a_reader_gets_a_whole_build_while_others_write(tmp_path: Path) -> None:
    """Writers share a key, as two jobs of one source do whose compilers weren't of one mind."""
    cache = BuildCache(tmp_path / "cache")
    builds = [bytes([number]) * 300_000 for number in range(4)]
    report = CompileReport(command="g++", output="", duration_s=0.0, cached=False)

    def write(binary: bytes) -> None:
        for _ in range(40):
            cache.store("key", report, binary)

    writers = [threading.Thread(target=write, args=(binary,)) for binary in builds]
    cache.store("key", report, builds[0])
    for writer in writers:
        writer.start()
    seen = {cache.load("key") is not None for _ in range(200)}
    for writer in writers:
        writer.join()
    assert {True} == seen
    assert ["key.build"] == [path.name for path in (tmp_path / "cache").iterdir()]
