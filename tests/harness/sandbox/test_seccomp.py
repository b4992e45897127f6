import pytest

from kernelbot.harness.sandbox.seccomp import UnknownArchitecture, build_filter


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_a_filter_is_whole_instructions_and_within_the_kernels_bound(machine: str) -> None:
    program = build_filter(machine)
    assert 0 == len(program) % 8
    assert 4096 > len(program) // 8


def test_an_unknown_processor_is_refused() -> None:
    with pytest.raises(UnknownArchitecture, match="z80"):
        build_filter("z80")
