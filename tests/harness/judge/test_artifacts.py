import base64

from kernelbot.harness.judge.artifacts import ArtifactCollection
from kernelbot.protocol.result_size import (
    MAX_FILE_BYTES,
    MAX_FILES_BYTES,
    MAX_REPORT_BYTES,
    REPORT,
)

BINARY = "application/octet-stream"


def sizes(kept: ArtifactCollection) -> dict[str, int]:
    return {item.name: len(base64.b64decode(item.content_base64)) for item in kept.all()}


def test_files_keep_their_order_type_and_content() -> None:
    kept = ArtifactCollection()
    kept.add("b", BINARY, b"\x00\xff")
    kept.add("a", "text/plain", b"text")
    assert [("b", BINARY, "AP8="), ("a", "text/plain", "dGV4dA==")] == [
        (item.name, item.media_type, item.content_base64) for item in kept.all()
    ]
    assert () == kept.notes


def test_a_file_that_is_too_large_is_left_out_and_that_is_said() -> None:
    kept = ArtifactCollection()
    kept.add("most", BINARY, bytes(MAX_FILE_BYTES))
    kept.add("more", BINARY, bytes(MAX_FILE_BYTES + 1))
    assert {"most": MAX_FILE_BYTES} == sizes(kept)
    assert ("more is left out: it has 16.0 MiB, a file may have 16.0 MiB.",) == kept.notes


def test_files_together_have_a_limit_too() -> None:
    kept = ArtifactCollection()
    for name in ("a", "b", "c"):
        kept.add(name, BINARY, bytes(MAX_FILE_BYTES))
    kept.add("text", "text/plain", b"still here")
    assert 2 * MAX_FILE_BYTES == MAX_FILES_BYTES
    assert {"a": MAX_FILE_BYTES, "b": MAX_FILE_BYTES, "text": 10} == sizes(kept)
    assert ("c is left out: it has 16.0 MiB, all files together may have 32.0 MiB.",) == kept.notes


def test_a_long_text_is_cut_between_characters_and_that_is_said() -> None:
    kept = ArtifactCollection()
    kept.add("text", "text/plain", "é".encode() * MAX_REPORT_BYTES)
    kept.add("odd", "text/plain", b"x" + "é".encode() * MAX_REPORT_BYTES)
    assert {"text": MAX_REPORT_BYTES, "odd": MAX_REPORT_BYTES - 1} == sizes(kept)
    assert ("text is cut after 256 KiB.", "odd is cut after 256 KiB.") == kept.notes


def test_a_second_attempt_replaces_the_files_of_the_first() -> None:
    kept = ArtifactCollection()
    kept.add("profile.0.txt", "text/plain", bytes(MAX_REPORT_BYTES + 1))
    kept.add("profile.0.txt", "text/plain", b"second")
    assert ({"profile.0.txt": 6}, ()) == (sizes(kept), kept.notes)
    assert "text/plain" == REPORT
