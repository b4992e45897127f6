from hypothesis import given
from hypothesis import strategies as st

from kernelbot.harness.sandbox.capture import OutputCapture


@given(blocks=st.lists(st.binary(max_size=200), max_size=30))
def test_short_output_is_kept_whole(blocks: list[bytes]) -> None:
    capture = OutputCapture(kept_bytes=20_000, limit_bytes=1 << 30)
    for block in blocks:
        capture.feed(block)
    assert b"".join(blocks).decode(errors="replace") == capture.text


@given(sizes=st.lists(st.integers(0, 50), max_size=60))
def test_long_output_keeps_both_ends_and_counts_the_middle(sizes: list[int]) -> None:
    capture = OutputCapture(kept_bytes=100, limit_bytes=1 << 30)
    everything = "".join(chr(97 + i % 26) for i in range(sum(sizes)))
    position = 0
    for size in sizes:
        capture.feed(everything[position : position + size].encode())
        position += size
    if len(everything) <= 100:
        assert everything == capture.text
    else:
        note = f"\n[... {len(everything) - 100} bytes left out ...]\n"
        assert everything[:50] + note + everything[-50:] == capture.text


def test_it_overflows_past_the_limit_only() -> None:
    capture = OutputCapture(kept_bytes=10, limit_bytes=100)
    capture.feed(bytes(100))
    assert capture.overflowed is False
    capture.feed(b"x")
    assert capture.overflowed is True
