"""`submission samples`: every sample, for your own statistics."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from kernelbot.cli.declaring import Argument, Commands, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.options import Json, Url
from kernelbot.cli.session import connected
from kernelbot.cli.terminal import columns

if TYPE_CHECKING:
    from kernelbot.runs.samples.model import SampledWorkload
    from kernelbot.runs.samples.schemas import SampleList

_COLUMNS = (
    "run",
    "device",
    "secret",
    "phase",
    "workload",
    "spec",
    "index",
    "sample_ns",
    "drift_factor",
    "rejudge",
)
Id = Annotated[int, Argument(min=1, help="The submission's number.")]


def register(group: Commands) -> None:
    """Add the command to `submission`."""
    group.command(
        epilog=examples(
            "kernelbot submission samples 12 --csv > samples.csv",
            "kernelbot submission samples 12 --json",
        )
    )(samples)


def samples(
    submission_id: Id,
    as_csv: Annotated[bool, Option("--csv", help="One line per sample, on stdout.")] = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Download every sample; without --csv or --json, show an overview."""
    from kernelbot.render.table import table

    with connected(url, as_json) as (terminal, client):
        found = client.samples(submission_id)
    if as_csv and not as_json:
        _write_csv(found)
        return
    headers = (
        "run",
        "rejudge",
        "device",
        "data",
        "phase",
        "workload",
        "samples",
        "median",
        "95 % interval, this judging",
        "ended by",
    )
    rows = [_row(load) for load in found.workloads]
    none = "No samples: nothing was timed, or none of it is shown."
    terminal.show(
        table(headers, rows, right=("run", "samples", "median"), columns=columns())
        if rows
        else none
    )
    terminal.document(found)


def _row(load: SampledWorkload) -> tuple[str, ...]:
    from kernelbot.render.text import one_line
    from kernelbot.render.units import seconds_text
    from kernelbot.runs.samples.model import workload_name

    low, high = (seconds_text(end / 1e9) for end in load.ci95_ns)
    return (
        str(load.run_id),
        "" if load.rejudge_id is None else str(load.rejudge_id),
        load.device,
        "secret" if load.secret else "public",
        load.phase,
        one_line(workload_name(load.workload, load.spec)),
        str(len(load.samples_ns)),
        seconds_text(load.median_ns / 1e9),
        f"{low} .. {high}",
        load.stopped_by,
    )


def _write_csv(found: SampleList) -> None:
    from kernelbot.render.csv_text import csv_text

    sys.stdout.write(csv_text([_COLUMNS]))
    for load in found.workloads:
        place = (load.run_id, load.device, load.secret, load.phase, load.workload, load.spec)
        sys.stdout.write(
            csv_text(
                (*place, i, sample, _factor(load, i), load.rejudge_id)
                for i, sample in enumerate(load.samples_ns)
            )
        )


def _factor(load: SampledWorkload, index: int) -> float:
    """The factor that cancels drift: ten samples share one; 1 without an anchor."""
    return load.drift_factors[index // 10] if load.drift_factors else 1.0
