"""What is known of a call."""

from kernelbot.harness.words.windows import OutputLayout, Window


def test_the_cheaper_of_two_layouts_is_so_in_each_respect() -> None:
    one, other = OutputLayout(1, 20, 3), OutputLayout(2, 10, 4)
    assert OutputLayout(1, 10, 3) == one.at_most(other) == other.at_most(one)
    assert OutputLayout(0, 0, 0) == OutputLayout()


def test_a_window_is_as_long_as_it_did_not_wait() -> None:
    window = Window(1, 100, waiting_ns=30, call_tree_cpu_ns=80, processors=4)
    assert (70, 20.0) == (window.took_ns, window.shared_cpu_ns)
