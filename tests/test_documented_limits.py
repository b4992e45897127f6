"""What the documentation says of limits and bounds holds."""

import re
from pathlib import Path

import pytest

from kernelbot.accounts.logins import service as logins
from kernelbot.accounts.tokens import service as tokens
from kernelbot.api.settings import ApiSettings
from kernelbot.domain.ids import PAGE_ROWS
from kernelbot.domain.states import MAX_ATTEMPTS
from kernelbot.harness.judge import limits
from kernelbot.harness.judge.measuring import short_calls
from kernelbot.harness.timing import answers, control_calls, minority
from kernelbot.harness.timing import waits as repeated
from kernelbot.harness.words import failures
from kernelbot.protocol import recurring, result_size, scoring, waits
from kernelbot.runs import repeats
from kernelbot.runs.nodes import service as nodes
from kernelbot.submissions.source import MAX_SOURCE_BYTES
from kernelbot.webhooks import deliveries
from kernelbot.webhooks.sender import Sender

DOCS = Path(__file__).resolve().parent.parent / "docs"
MIB, GIB = 1 << 20, 1 << 30
WORDS = {
    2: "two",
    3: "three",
    4: "four",
    5: "five",
    10: "ten",
    0.1: "tenth",
    0.25: "quarter",
    0.5: "half",
    5 / 6: "five sixths",
}


def word(number: float) -> str:
    return WORDS.get(number, "?")


def pauses() -> str:
    seconds = deliveries._PAUSES_S
    minutes = [f"{pause_s / 60} minutes".replace(".0", "") for pause_s in seconds[2:4]]
    hours = [str(pause_s / 3600).removesuffix(".0") for pause_s in seconds[4:]]
    first = f"again after {seconds[0]:g} seconds, {seconds[1] / 60:g} minute"
    return f"{first}, {', '.join([*minutes, *hours[:-1]])} and {hours[-1]} hours"


SENDS = Sender.__init__.__kwdefaults__ or {}
TRUST = "explanation/trusting-a-number.md"
SAID = [
    (TRUST, f"compares the data of up to {recurring.MOST_CALLS} calls of a workload"),
    (TRUST, f"Outputs of timed calls are kept, up to {answers.MAX_KEPT_BYTES / MIB:g} MiB"),
    (TRUST, f"the fastest {word(answers._LEAST_SHARE)} is checked"),
    (TRUST, f"a {word(answers._OTHERS_SHARE)} of the others, drawn by chance"),
    (TRUST, f"lie up to {scoring.MOST_CALLS} calls of a kernel"),
    (TRUST, f"that takes less than {short_calls._WINDOW_NS / 2e3:g} us"),
    (TRUST, "they are {4}, {3}, {2}, {1} or {0} at most".format(*short_calls._FEWER)),
    (TRUST, f"is more than {100 * (minority._LENIENCY - 1):.3g} % above the median"),
    (TRUST, f"A ranked run whose own interval is wider than ±{100 * scoring.WIDEST:g} %"),
    (TRUST, f"on the device, up to {word(repeats.MAX_REPEATS)} times"),
    (TRUST, f"in which it is more than {repeated._LONG_NS / 1e3:g} us"),
    (TRUST, f"more than {100 * repeated._LONG_SHARE:g} % of a usual window"),
    (TRUST, f"repeated with new data, {word(waits.MOST_TRIES - 1)} times at most"),
    (TRUST, f"is more than {100 * repeated._SAME:g} % above that of the samples"),
    (TRUST, f"If more than {word(waits.BUSY_SHARE)} of the windows waited"),
    (TRUST, f"than {word(control_calls._MOST_TIMES)} times what the cheapest"),
    (TRUST, f"the cheapest {word(control_calls._LOW)} took"),
    (TRUST, f"took, and {control_calls._MOST_MORE_NS / 1e3:g} us."),
    (TRUST, f"never narrower than {scoring.RESOLUTION_NS / 1e3:g} us to either side"),
    (TRUST, f"further from 1 than a {word(scoring.MAX_DRIFT)}:"),
    (TRUST, f"the difference beyond {control_calls._SLACK_WALL_NS / 1e3:g} us is added"),
    ("reference/problem-format.md", f"the data of up to {recurring.MOST_CALLS} timed calls"),
    ("reference/problem-format.md", f"the data of up to {recurring.MOST_CALLS} seeds"),
    ("reference/verdicts.md", f"tried again, {word(MAX_ATTEMPTS)} attempts in all"),
    ("reference/verdicts.md", f"waited for a processor in a {word(failures._WAITING_SHARE)}"),
    ("reference/verdicts.md", f"for more than {word(failures._OTHERS_SHARE)} of it"),
    ("reference/http-api.md", f"A list has {PAGE_ROWS} rows at once"),
    ("reference/http-api.md", f"| more than {MAX_SOURCE_BYTES / MIB:g} MiB; more than"),
    ("reference/http-api.md", f"more than {ApiSettings.text_limit_bytes / 1024:g} KiB of anything"),
    ("reference/http-api.md", f"and {nodes.MAX_EVENTS:,} of"),
    ("reference/configuration.md", f"at least {limits._GPU_PROCESSES:,} processes"),
    ("reference/configuration.md", f"{limits._GPU_MEMORY_BYTES / GIB:g} GiB of memory"),
    ("reference/configuration.md", f"{limits._GPU_FILE_BYTES / GIB:g} GiB in each of `/tmp`"),
    ("reference/configuration.md", f"{limits._STAGED_MEMORY_BYTES / GIB:g} GiB where data passes"),
    ("reference/web-pages.md", f"works once, within {word(logins.LINK_LASTS_S / 60)} minutes"),
    ("reference/web-pages.md", f"session ends after {tokens._SESSION_LASTS_S / 86_400:g} days"),
    ("how-to/manage-accounts.md", f"for {tokens.SHORT_SESSION_LASTS_S / 3600:g} hours"),
    ("how-to/profile-a-kernel.md", f"One file may have {result_size.MAX_FILE_BYTES / MIB:g} MiB"),
    ("how-to/profile-a-kernel.md", f"of a run {result_size.MAX_FILES_BYTES / MIB:g} MiB"),
    ("how-to/profile-a-kernel.md", f"a text {result_size.MAX_REPORT_BYTES / 1024:g} KiB"),
    ("explanation/gpu-time.md", f"larger than {result_size.MAX_PRODUCT_BYTES / MIB:g} MiB"),
    ("how-to/webhooks.md", f"up to {len(deliveries._PAUSES_S) + 1} times within"),
    ("how-to/webhooks.md", pauses()),
    ("how-to/webhooks.md", f"delivered for {word(deliveries._FAILING_DAYS)} days"),
    ("how-to/webhooks.md", "Answer with 200 to 299 within {timeout_s:g} seconds".format_map(SENDS)),
    ("how-to/webhooks.md", f"At most {word(deliveries._OF_OWNER)} messages"),
    ("how-to/webhooks.md", f"and {word(deliveries._OF_HOST)} to one host"),
]


@pytest.mark.parametrize(("page", "words"), SAID)
def test_a_figure_of_the_documentation_is_the_codes(page: str, words: str) -> None:
    text = re.sub(r"\s+", " ", (DOCS / page).read_text())
    assert text.count(words) == 1, words
