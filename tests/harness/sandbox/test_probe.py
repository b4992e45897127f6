from kernelbot.harness.sandbox import probe


def test_every_promise_holds_here() -> None:
    report = probe()
    assert "bubblewrap" == report.mode
    assert [] == [reason for reason in report.missing if "not in force" in reason]
    assert {
        "unprivileged user",
        "no capabilities",
        "no_new_privs",
        "seccomp",
        "pid namespace",
        "no network",
        "read-only system",
        "nothing of the host's files",
        "private /box, /tmp and /dev/shm",
    } <= set(report.in_force)
