import pytest

from kernelbot.harness.data import channel
from kernelbot.harness.sandbox import CommandNotStarted, RunnerClient, run_command
from kernelbot.harness.words.sandbox import SandboxUnavailable
from kernelbot.protocol import Limits, Verdict

LONGER_THAN_A_TEST_S = 600
"""What waits so long is ended by pytest, and its test fails."""


def test_exit_code_and_streams_come_back(client: RunnerClient) -> None:
    result = run_command(client, ["sh", "-c", "echo out; echo err >&2; exit 7"], timeout_s=60)
    assert (7, None, "out\n", "err\n", None) == (
        result.exit_code,
        result.signal,
        result.stdout,
        result.stderr,
        result.limit,
    )


def test_files_go_in_and_come_out(client: RunnerClient) -> None:
    result = run_command(
        client,
        ["sh", "-c", "cat 'a b.txt' sub/c > out; ln -s out link"],
        files={"a b.txt": b"\x00\xff", "sub/c": b"c"},
        collect=("out", "link", "absent"),
        timeout_s=60,
    )
    assert {"out": b"\x00\xffc"} == result.collected


def test_lines_on_the_descriptor_are_told(client: RunnerClient) -> None:
    seen: list[str] = []
    result = run_command(
        client,
        ["sh", "-c", "echo first >&$POPCORN_FD; printf last >&$POPCORN_FD"],
        popcorn_fd=True,
        on_line=seen.append,
        timeout_s=60,
    )
    assert (["first", "last"], b"first\nlast") == (seen, result.fd_output)


def test_they_are_told_while_it_runs(client: RunnerClient) -> None:
    def leave(line: str) -> None:
        raise LookupError(line)

    with pytest.raises(LookupError, match="first"):
        run_command(
            client,
            ["sh", "-c", "echo first >&$POPCORN_FD; sleep 600"],
            popcorn_fd=True,
            on_line=leave,
            timeout_s=LONGER_THAN_A_TEST_S,
        )


def test_of_a_line_without_end_the_beginning_is_told(client: RunnerClient) -> None:
    seen: list[str] = []
    run_command(
        client,
        ["sh", "-c", "(head -c 20M /dev/zero | tr '\\0' x; echo; echo next) >&$POPCORN_FD"],
        popcorn_fd=True,
        on_line=seen.append,
        timeout_s=60,
    )
    assert [16 << 20, len("next")] == [len(line) for line in seen]


def test_grandchildren_are_not_waited_for(client: RunnerClient) -> None:
    result = run_command(
        client,
        ["sh", "-c", "sleep 600 >&$POPCORN_FD & echo done >&$POPCORN_FD"],
        popcorn_fd=True,
        timeout_s=LONGER_THAN_A_TEST_S,
    )
    assert (0, b"done\n", None) == (result.exit_code, result.fd_output, result.limit)


@pytest.mark.exhaustive  # each run has test_of_a_line_without_end_the_beginning_is_told
def test_a_command_that_does_not_end_is_a_time_limit(client: RunnerClient) -> None:
    result = run_command(client, ["sh", "-c", "echo before; sleep 60"], timeout_s=1.5)
    assert (Verdict.TIME_LIMIT, "before\n", None) == (result.limit, result.stdout, result.exit_code)


def test_a_judge_that_stood_still_does_not_know_how_long_a_command_took(
    client: RunnerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "_STANDSTILL_S", 0.05)  # each wait for a glance is longer
    with pytest.raises(SandboxUnavailable, match="stood still"):
        run_command(client, ["sleep", "600"], timeout_s=0.5)


def test_processor_time_is_limited(client: RunnerClient) -> None:
    limits = Limits(cpu_time_s=1)
    result = run_command(client, ["sh", "-c", "while :; do :; done"], limits=limits, timeout_s=60)
    assert Verdict.TIME_LIMIT == result.limit


def test_a_signal_is_named(client: RunnerClient) -> None:
    result = run_command(client, ["sh", "-c", "kill -SEGV $$"], timeout_s=60)
    assert (None, 11, None) == (result.exit_code, result.signal, result.limit)


def test_a_missing_program_is_told(client: RunnerClient) -> None:
    with pytest.raises(CommandNotStarted, match="no-such-program"):
        run_command(client, ["no-such-program"], timeout_s=60)


def test_a_flood_on_the_descriptor_is_an_output_limit(client: RunnerClient) -> None:
    limits = Limits(output_limit_bytes=1 << 20)
    result = run_command(
        client,
        ["sh", "-c", "yes >&$POPCORN_FD"],
        popcorn_fd=True,
        limits=limits,
        timeout_s=60,
    )
    assert (Verdict.OUTPUT_LIMIT, 1 << 20) == (result.limit, len(result.fd_output))


def test_large_files_pass_through(client: RunnerClient) -> None:
    content = bytes(range(256)) * (1 << 14)
    result = run_command(
        client, ["cp", "a", "b"], files={"a": content}, collect=("b",), timeout_s=60
    )
    assert content == result.collected["b"]
