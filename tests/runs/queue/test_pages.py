"""Devices, and pausing the platform."""

from kernelbot.protocol import Mode
from tests.support.office import Office

HERE = "/organise/queue"


async def test_it_shows_what_waits_and_why(office: Office) -> None:
    await office.front.world.submit(mode=Mode.TEST)
    text = (await office.maker.get(HERE)).text
    shown = ["<bdi>H100</bdi>", "no worker serves it", "<bdi>local</bdi>", ">1<span"]
    assert [] == [one for one in shown if one not in text]


async def test_admins_pause_and_resume(office: Office) -> None:
    reason = "<script>back at noon"
    await office.admin_posts(f"{HERE}/pause", reason=reason)
    paused = (await office.front.admin.get(f"{HERE}?done=paused")).text
    await office.admin_posts(f"{HERE}/resume")
    state = await office.front.world.services.platform.state()
    assert ("&lt;script&gt;back at noon" in paused, True) == (True, state.accepts_jobs)


async def test_nobody_else_does(office: Office) -> None:
    answers = [
        await office.post(f"{HERE}/pause"),
        await office.post(f"{HERE}/pause", office.front.ada),
        await office.front.admin.post(f"{HERE}/pause", data={"csrf": "0" * 64}),
        await office.admin_posts(f"{HERE}/pause", reason="x" * 501),
        await office.front.ada.get(HERE),
    ]
    state = await office.front.world.services.platform.state()
    assert [403, 403, 403, 400, 403] == [one.status_code for one in answers]
    assert (True, False) == (state.accepts_jobs, "/pause" in (await office.maker.get(HERE)).text)
