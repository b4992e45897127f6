"""Uploads to the Hub, whose fake takes Parquet as large files only, like the real one."""

import importlib.util
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelbot.domain.errors import Unavailable, UserError
from kernelbot.platform.exports.card import CardFile
from kernelbot.platform.exports.huggingface import upload
from kernelbot.platform.exports.model import ExportRules
from tests.fakes.hub import TOKEN, FakeHub, fake_hub

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("huggingface_hub") is None,
    reason="exports are an extra: huggingface_hub isn't installed",
)

ABOUT = CardFile("x.parquet", ("sort",), 1, "2026-01-01")
LARGE = bytes(range(251)) * (12 << 20 >> 8)
"""More than the Hub takes within a commit."""


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with fake_hub() as running:
        yield running


@pytest.fixture
def large(tmp_path: Path) -> Path:
    file = tmp_path / "large.parquet"
    file.write_bytes(LARGE)
    return file


def rules(url: str, license_name: str = "other") -> ExportRules:
    return ExportRules(None, TOKEN, "lab/kernels", url, license_name)


def why(url: str, file: Path) -> tuple[str, str]:
    """Why it was refused, and what to do. Nothing of it is a part of an address."""
    with pytest.raises(Unavailable) as caught:
        upload(rules(url), file, ABOUT, private=True)
    said = (str(caught.value), caught.value.hint or "")
    assert not [one for one in said if "http" in one or "signature" in one]
    return said


def test_a_large_file_goes_to_a_signed_address_in_one_piece(hub: FakeHub, large: Path) -> None:
    upload(rules(hub.url), large, ABOUT, private=True)
    files = hub.datasets["lab/kernels"].files
    assert ([len(LARGE)], LARGE, {"x.parquet", "README.md"}) == (
        hub.storage.sent_bytes,
        files["x.parquet"],
        set(files),
    )


@pytest.mark.exhaustive  # each run has test_a_large_file_goes_to_a_signed_address_in_one_piece
def test_a_larger_one_goes_in_parts(hub: FakeHub, large: Path) -> None:
    hub.storage.part_bytes = 5 << 20
    upload(rules(hub.url), large, ABOUT, private=True)
    whole, rest = divmod(len(LARGE), 5 << 20)
    assert ([5 << 20] * whole + [rest], LARGE) == (
        hub.storage.sent_bytes,
        hub.datasets["lab/kernels"].files["x.parquet"],
    )


@pytest.mark.exhaustive  # each run has test_a_large_file_goes_to_a_signed_address_in_one_piece
def test_what_is_there_already_is_not_sent_again(hub: FakeHub, large: Path) -> None:
    for _ in range(2):
        upload(rules(hub.url), large, ABOUT, private=True)
    assert [len(LARGE)] == hub.storage.sent_bytes


def test_an_address_that_has_expired(hub: FakeHub, large: Path) -> None:
    hub.storage.lasts_s = 0.0
    said, hint = why(hub.url, large)
    assert (
        "The Hub's storage does not take the export any more: Request has expired (403).",
        True,
        {},
    ) == (said, hint.startswith("Try again"), hub.datasets["lab/kernels"].files)


def test_a_body_that_is_too_large(hub: FakeHub, large: Path) -> None:
    hub.storage.most_body_bytes = 1 << 20
    said, hint = why(hub.url, large)
    expected = (
        f"The Hub does not take the export, because {len(LARGE) / 1e6:.1f} MB are too much: "
        "Your proposed upload exceeds the maximum size (413)."
    )
    assert (expected, "Export fewer boards at once.") == (said, hint)


def test_a_file_that_gets_no_address(hub: FakeHub, large: Path) -> None:
    hub.storage.most_object_bytes = 1 << 20
    said, _ = why(hub.url, large)
    assert ("the object is too large" in said, []) == (True, hub.storage.sent_bytes)


def test_a_file_that_does_not_arrive_whole_is_named_by_no_commit(hub: FakeHub, large: Path) -> None:
    hub.storage.loses_bytes = 1
    said, _ = why(hub.url, large)
    assert (
        "The Hub did not take the export: the object's size differs from what was announced (422).",
        {},
    ) == (said, hub.datasets["lab/kernels"].files)


def test_a_licence_is_refused_as_one(hub: FakeHub, large: Path) -> None:
    with pytest.raises(UserError, match="license"):
        upload(rules(hub.url, "mine"), large, ABOUT, private=True)


def test_a_hub_that_cannot_be_reached(large: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    said, _ = why(f"http://127.0.0.1:{port}", large)
    assert "The Hub did not take the export" in said
