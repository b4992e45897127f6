"""What a kernel finds out after its mark counts, once it has named another output than it gave."""

from dataclasses import replace

from kernelbot.harness.timing.control_calls import ControlCalls
from kernelbot.harness.timing.descriptions import with_descriptions
from kernelbot.harness.words.windows import Window

US = 1_000
CONTROL = Window(claim_ns=US, bracket_ns=30 * US, call_cpu_ns=20 * US, describing_ns=300 * US)
GUESSED = Window(2 * US, bracket_ns=32 * US, call_cpu_ns=22 * US, describing_ns=520 * US)
REPAIRED = Window(2 * US, bracket_ns=900 * US, described=True, disowned=True)


def test_a_kernel_that_describes_what_was_taken_pays_for_nothing_after_its_marks() -> None:
    windows = [GUESSED, replace(REPAIRED, disowned=False)]
    assert [windows, [GUESSED]] == with_descriptions([windows, [GUESSED]])


def test_one_that_has_named_another_output_does_in_all_processes() -> None:
    late = replace(GUESSED, late_ns=520 * US)
    assert [[late, REPAIRED], [late]] == with_descriptions([[GUESSED, REPAIRED], [GUESSED]])


def test_what_describing_usually_takes_is_not_in_it() -> None:
    control = ControlCalls(on_gpu=False)
    for after_us in (100, 300, 900):
        control.add(replace(CONTROL, describing_ns=after_us * US))
    baseline = control.baseline()
    ((late, quick),) = with_descriptions([[GUESSED, replace(GUESSED, describing_ns=200 * US)]])
    assert (2 * US, 2 * US) == (baseline.bounded_ns(late), baseline.bounded_ns(quick))
    ((late, quick, _),) = with_descriptions(
        [[GUESSED, replace(GUESSED, describing_ns=200 * US), REPAIRED]]
    )
    assert (222 * US, 2 * US) == (baseline.bounded_ns(late), baseline.bounded_ns(quick))
