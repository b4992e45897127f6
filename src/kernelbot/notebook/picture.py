"""A plot of what was timed, as a picture that every front end shows."""

import importlib.util
from collections.abc import Sequence

from kernelbot.protocol import WorkloadResult
from kernelbot.render.judging_chart import judging_chart


def picture(
    workloads: Sequence[WorkloadResult], reference: Sequence[WorkloadResult]
) -> bytes | None:
    """SVG; None if nothing can be drawn here: it needs the extra `charts`."""
    if importlib.util.find_spec("vl_convert") is None:
        return None
    from kernelbot.drawing.chart_process import drawn

    return drawn({"form": "svg", "chart": judging_chart(workloads, reference)})
