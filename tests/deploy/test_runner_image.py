"""The image's entry point, which is the same outside of an image: a payload in, a result out."""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import pytest

from kernelbot.harness.archive import build
from kernelbot.protocol import RunResult, Verdict, from_wire
from tests.fakes.links import fake_links
from tests.support.exhaustive import cases
from tests.support.searching import bare_job

ENTRY_POINT = Path(__file__).resolve().parents[2] / "deploy/runner/judge-payload"
MINIMAL = (
    b'{"lang":"py","mode":"test","files":{"main.py":"print(\'Hello GPU!\')"},'
    b'"tests":[],"benchmarks":[]}'
)
LOOKS_FOR_IT = """
import os, pathlib
told = dict(os.environ)
for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
    try:
        told[str(path)] = path.read_bytes().decode(errors="replace")
    except OSError:
        pass
print(any("SUBMISSION_PAYLOAD" in name + text for name, text in told.items()), len(told) > 1)
"""


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("harness") / "kernelbot-harness.pyz")


def packed(document: bytes) -> str:
    return base64.b64encode(zlib.compress(document)).decode()


def judge(
    harness: Path, folder: Path, payload: str | None, on_stdin: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    """As the image starts it, with an interpreter that has no KernelBot."""
    path = f"{sys.base_prefix}/bin:{os.environ['PATH']}"
    environment = {"PATH": path, "KERNELBOT_HARNESS": str(harness)}
    environment |= {"TMPDIR": str(folder.parent), **variables}
    if payload is not None:
        environment["SUBMISSION_PAYLOAD"] = payload
    return subprocess.run(
        [str(ENTRY_POINT)],
        input=on_stdin,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        cwd=folder,
        env=environment,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "out"
    made.mkdir()
    return made


def result_in(folder: Path) -> RunResult:
    return from_wire(RunResult, json.loads((folder / "result.json").read_text()))


# Each run has test_a_payload_travels_packed_or_plain (test_minimal_payload.py).
@pytest.mark.exhaustive
@pytest.mark.parametrize("way", cases(["environment", "stdin", "plain"], always=["environment"]))
def test_a_minimal_payload_by_hand(harness: Path, folder: Path, way: str) -> None:
    text = MINIMAL.decode() if way == "plain" else packed(MINIMAL)
    ended = judge(harness, folder, None, text) if way == "stdin" else judge(harness, folder, text)
    assert (0, "Hello GPU!\n") == (ended.returncode, ended.stdout), ended.stderr
    assert Verdict.ACCEPTED == result_in(folder).verdict
    assert 0o644 == (folder / "result.json").stat().st_mode & 0o777
    assert ["out"] == [path.name for path in folder.parent.iterdir()]  # and no payload


@pytest.mark.exhaustive
def test_the_author_finds_no_payload(harness: Path, folder: Path) -> None:
    document = {**json.loads(MINIMAL), "files": {"main.py": LOOKS_FOR_IT}}
    ended = judge(harness, folder, packed(json.dumps(document).encode()))
    assert "False True\n" == ended.stdout, ended.stderr


@pytest.mark.exhaustive
def test_a_payload_behind_a_link_is_fetched_and_progress_sent(harness: Path, folder: Path) -> None:
    job = bare_job()
    with fake_links(harness) as links:
        links.jobs[job.job_id] = job
        named = links.for_job(job.job_id, 60)
        ended = judge(
            harness,
            folder,
            None,
            SUBMISSION_PAYLOAD_URL=named.payload_url,
            SUBMISSION_EVENTS_URL=named.events_url,
        )
    assert 0 == ended.returncode, ended.stderr
    assert Verdict.ACCEPTED == result_in(folder).verdict
    assert b'"finished"' in b"".join(links.events[job.job_id])


def test_a_job_of_the_platform_starts_the_harness_once(folder: Path) -> None:
    harness = folder.parent / "harness.pyz"
    with zipfile.ZipFile(harness, "w") as archive:
        archive.writestr("__main__.py", "import sys; print(sys.argv[1])")
    ended = judge(harness, folder, "eJw=", SUBMISSION_ATTEMPT="1.1.a")
    assert (0, "node\n") == (ended.returncode, ended.stdout), ended.stderr


def test_the_harness_that_was_compiled_with_the_image_is_started(folder: Path) -> None:
    harness, unpacked = folder.parent / "harness.pyz", folder.parent / "harness"
    harness.write_text("raise SystemExit(9)")
    unpacked.mkdir()
    (unpacked / "__main__.py").write_text("import sys; print(sys.argv[1])")
    ended = judge(harness, folder, "eJw=", SUBMISSION_ATTEMPT="1.1.a")
    assert (0, "node\n") == (ended.returncode, ended.stdout), ended.stderr


@pytest.mark.exhaustive
def test_an_unpacked_harness_judges_as_the_file_does(harness: Path, folder: Path) -> None:
    with zipfile.ZipFile(harness) as archive:
        archive.extractall(harness.with_suffix(""))
    try:
        ended = judge(harness, folder, packed(MINIMAL))
    finally:
        shutil.rmtree(harness.with_suffix(""))
    assert (0, "Hello GPU!\n") == (ended.returncode, ended.stdout), ended.stderr
    assert Verdict.ACCEPTED == result_in(folder).verdict


TELLS_WHICH = "from pathlib import Path; Path('result.json').write_text('another')"


@pytest.mark.parametrize(
    ("announced", "written"), [("right", "another"), ("wrong", "image"), ("own", "image")]
)
def test_a_harness_behind_a_link_is_used_if_it_is_the_announced_one(
    folder: Path, announced: str, written: str
) -> None:
    own, other = folder.parent / "own.pyz", folder.parent / "other.pyz"
    for path, text in ((own, TELLS_WHICH.replace("another", "image")), (other, TELLS_WHICH)):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("__main__.py", text)
    with fake_links(other) as links:
        hashes = {
            "right": hashlib.sha256(links.harness).hexdigest(),
            "wrong": "0" * 64,
            "own": hashlib.sha256(own.read_bytes()).hexdigest(),
        }
        ended = judge(
            own,
            folder,
            "{}",
            SUBMISSION_HARNESS_URL=f"{links.url}/harness.pyz",
            SUBMISSION_HARNESS_SHA256=hashes[announced],
        )
    assert (0, written) == (ended.returncode, (folder / "result.json").read_text()), ended.stderr
    assert ([] if announced == "own" else ["/harness.pyz"]) == links.fetched
    assert {"out", "other.pyz", "own.pyz"} == {path.name for path in folder.parent.iterdir()}


# Each run has test_a_harness_behind_a_link_is_used_if_it_is_the_announced_one
@pytest.mark.exhaustive
@pytest.mark.parametrize("payload", cases(["a'; echo x", "$(id)", "{", "\x7f"], always=["$(id)"]))
def test_nonsense_is_refused_with_a_sentence(harness: Path, folder: Path, payload: str) -> None:
    ended = judge(harness, folder, payload)
    assert (2, "") == (ended.returncode, ended.stdout)
    assert ended.stderr.startswith("The payload")
    assert [] == list(folder.iterdir())


# Each run has test_a_harness_behind_a_link_is_used_if_it_is_the_announced_one
@pytest.mark.exhaustive
def test_without_a_payload_nothing_is_judged(harness: Path, folder: Path) -> None:
    assert 2 == judge(harness, folder, None).returncode
