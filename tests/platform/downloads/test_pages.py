"""What a server hands out is there for whoever opens its address."""

import hashlib
import re
from dataclasses import replace

import pytest

from kernelbot.api.settings import VendorNotes
from kernelbot.platform.distribution import CLIENT_VERSION, install_command, wheel_name, wheel_url
from tests.support.front import Front


@pytest.mark.exhaustive  # each run has test_the_whole_package_is_there_for_those_who_judge
async def test_the_page_of_the_client_has_the_commands_and_the_hash(front: Front) -> None:
    answer = await front.stranger.get("/client/")
    text = answer.text.replace("&#39;", "'")
    commands = (
        install_command("http://test"),
        install_command("http://test", "judge"),
        f"uv tool install {wheel_url('http://test')}",
    )
    assert (200, [True] * 3) == (answer.status_code, [one in text for one in commands])


@pytest.mark.exhaustive  # each run has test_the_whole_package_is_there_for_those_who_judge
async def test_its_link_is_one_that_installers_can_check(front: Front) -> None:
    """As PEP 503 has it: the name as the text, the hash behind the address."""
    page = (await front.stranger.get("/client/")).text
    links = re.findall(r'<a href="(/client/[^"#]+)#sha256=([0-9a-f]{64})">([^<]+)</a>', page)
    ((path, sha256, name),) = links
    wheel = await front.stranger.get(path)
    assert (wheel_name(CLIENT_VERSION), 200) == (name, wheel.status_code)
    assert sha256 == hashlib.sha256(wheel.content).hexdigest()
    assert "application/zip" == wheel.headers["content-type"]


async def test_the_whole_package_is_there_for_those_who_judge(front: Front) -> None:
    wheel = await front.stranger.get(f"/client/{wheel_name()}")
    assert (200, "application/zip") == (wheel.status_code, wheel.headers["content-type"])


@pytest.mark.parametrize(
    "name", ["kernelbot-0.0.2-py3-none-any.whl", "x", "..%2f..%2fetc%2fpasswd", "x" * 201]
)
async def test_nothing_else_is_there(front: Front, name: str) -> None:
    assert (await front.stranger.get(f"/client/{name}")).status_code in (404, 422)


async def test_whoever_begins_is_told_how_to_install_it(front: Front) -> None:
    home = await front.stranger.get("/")
    assert f"{install_command('http://test')}\nkernelbot login http://test\n" in home.text


async def test_the_harness_is_there_by_its_hash_with_commands_that_check_it(front: Front) -> None:
    page = (await front.stranger.get("/harness/")).text
    ((path, sha256),) = re.findall(r'href="http://test(/harness/([0-9a-f]{64})/[^"]+)"', page)
    harness = await front.stranger.get(path)
    assert (200, sha256) == (harness.status_code, hashlib.sha256(harness.content).hexdigest())
    assert "immutable" in harness.headers["cache-control"]
    line = f"{sha256}  kernelbot-harness.pyz"
    assert f"{line}\n" == (await front.stranger.get("/harness/SHA256SUMS")).text
    assert f"echo &#34;{line}&#34; | sha256sum --check" in page


async def test_nodes_and_people_get_the_same_harness(front: Front) -> None:
    sha256 = (await front.stranger.get("/harness/SHA256SUMS")).text.split()[0]
    theirs = await front.stranger.get(f"/api/v1/harness/{sha256}")
    ours = await front.stranger.get(f"/harness/{sha256}/kernelbot-harness.pyz")
    assert theirs.content == ours.content


@pytest.mark.parametrize("sha256", ["0" * 64, "x", "a'; echo x", "0" * 63 + "A"])
async def test_no_other_harness_is_there(front: Front, sha256: str) -> None:
    answer = await front.stranger.get(f"/harness/{sha256}/kernelbot-harness.pyz")
    assert answer.status_code in (404, 422)


IMAGE = f"images.lab/kernelbot-runner@sha256:{'0' * 64}"
NOTES = VendorNotes("mailto:gpus@lab.example", "https://git.lab.example/kernels", IMAGE)


@pytest.mark.parametrize(("notes", "told"), [(NOTES, True), (VendorNotes(), False)])
async def test_vendors_are_told_what_the_organisers_configured(
    front: Front, notes: VendorNotes, told: bool
) -> None:
    front.app.state.settings = replace(front.app.state.settings, vendors=notes)
    page = (await front.stranger.get("/harness/")).text
    said = (
        '<a href="mailto:gpus@lab.example">gpus@lab.example</a>',
        f"docker pull {IMAGE}",
        "git clone https://git.lab.example/kernels",
    )
    assert [told] * 3 == [one in page for one in said]
    assert told != ("update-image.sh --auto --build cuda" in page)
