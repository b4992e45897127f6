"""What is known of a call."""

from kernelbot.harness.words.windows import OutputLayout, Reply, Window


def test_the_cheaper_of_two_layouts_is_so_in_each_respect() -> None:
    one, other = OutputLayout(1, 20, 3), OutputLayout(2, 10, 4)
    assert OutputLayout(1, 10, 3) == one.at_most(other) == other.at_most(one)
    assert OutputLayout(0, 0, 0) == OutputLayout()


def test_a_window_is_as_long_as_it_did_not_wait() -> None:
    window = Window(1, 100, waiting_ns=30, call_tree_cpu_ns=80, processors=4)
    assert (70, 20.0) == (window.took_ns, window.shared_cpu_ns)


def test_a_call_of_which_two_times_are_known_has_nothing_else_to_its_name() -> None:
    window = Window(claim_ns=5, bracket_ns=7)
    counted = [
        window.build_cpu_ns, window.still_cpu_ns, window.after_cpu_ns, window.call_cpu_ns,
        window.call_tree_cpu_ns, window.waiting_ns, window.outside_ns, window.outside_tree_cpu_ns,
        window.describing_ns, window.late_ns, window.stopping_ns,
    ]  # fmt: skip
    assert (5, 7, 1, {0}) == (window.claim_ns, window.took_ns, window.processors, set(counted))


def test_an_output_is_one_value_of_its_own_unless_the_runner_says_more() -> None:
    reply = Reply(None, Window(0, 0), 0, aliased=False)
    assert (1, False, False) == (reply.parts, reply.shared, reply.gaps)
