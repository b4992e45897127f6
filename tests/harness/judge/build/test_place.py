"""Which compiler is here: asked once, as that takes longer than all else before a cached build."""

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.harness.host.host import Host
from kernelbot.harness.judge.build.place import version_of
from kernelbot.protocol import BuildConfig, Lang, Verdict
from tests.harness.jobs import a_job, a_problem

PROGRAM = """
#include <stdio.h>
int main(void) {
    FILE *log = fopen(LOG, "a");
    fputs("asked\\n", log);
    fclose(log);
    puts(RELEASE);
}
"""


class Compiler:
    """A program that says a release, and notes each time that it is started."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._log = path.parent / "asked"
        self._log.touch()

    def install(self, release: str) -> None:
        source, draft = self.path.parent / "program.c", self.path.parent / "draft"
        names = f"#define LOG {json.dumps(str(self._log))}\n#define RELEASE {json.dumps(release)}\n"
        source.write_text(names + PROGRAM)
        subprocess.run(["gcc", source, "-o", draft], check=True)
        draft.rename(self.path)

    def install_script(self, release: str) -> None:
        self.path.write_text(f"#!/bin/sh\necho asked >> '{self._log}'\necho '{release}'\n")
        self.path.chmod(0o755)

    @property
    def times_asked(self) -> int:
        return len(self._log.read_text().splitlines())


@pytest.fixture
def gxx(tmp_path: Path) -> Compiler:
    return Compiler(tmp_path / "g++")


def test_a_compiler_is_asked_once_and_again_when_it_is_another(gxx: Compiler) -> None:
    gxx.install("13.0")
    said = [version_of(str(gxx.path)) for _ in range(3)]
    assert (["13.0\n"] * 3, 1) == (said, gxx.times_asked)
    gxx.install("13.1")
    assert ("13.1\n", 2) == (version_of(str(gxx.path)), gxx.times_asked)


def test_so_is_one_that_its_name_links_to(gxx: Compiler) -> None:
    for release in ("12", "13"):
        other = Compiler(gxx.path.with_name(f"x86_64-g++-{release}"))
        other.install(release)
        gxx.path.unlink(missing_ok=True)
        gxx.path.symlink_to(other.path)
        assert [f"{release}\n"] * 2 == [version_of(str(gxx.path)) for _ in range(2)]
    assert 2 == gxx.times_asked


def test_what_starts_the_compiler_is_asked_each_time(gxx: Compiler) -> None:
    """What that is can change without a change here."""
    gxx.install_script("13.0")
    assert ["13.0\n"] * 2 == [version_of(str(gxx.path)) for _ in range(2)]
    ccache = Compiler(gxx.path.with_name("ccache"))
    ccache.install("13.1")
    gxx.path.unlink()
    gxx.path.symlink_to(ccache.path)
    assert ["13.1\n"] * 2 == [version_of(str(gxx.path)) for _ in range(2)]
    assert 4 == gxx.times_asked


def test_a_compiler_that_is_gone_says_nothing(gxx: Compiler) -> None:
    assert "" == version_of(str(gxx.path))


def test_no_judge_asks_what_its_zygote_knows(
    gxx: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gxx.install("13.0")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert str(gxx.path) == shutil.which("g++")
    names = BuildConfig(sources=("submission.cpp",))
    problem = replace(a_problem(), lang=Lang.CPP, submission_name="submission.cpp", config=names)
    host = Host()
    try:
        results = [host.judge(a_job("a'; echo x", problem=problem), print) for _ in range(2)]
    finally:
        host.close()
    assert [Verdict.COMPILE_ERROR] * 2 == [result.verdict for result in results]
    assert 1 == gxx.times_asked
