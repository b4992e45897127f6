"""The program that draws charts.

A process of its own, since the library keeps 140 MB once it has drawn anything; its first chart
takes half a second, others a tenth of that. A request has `form` (`png` or `svg`) and `chart` (a
Vega-Lite document).
"""

import json
from typing import Any

from kernelbot.drawing.serving import serve

_PIXELS_PER_POINT = 2.0
_MEMORY_BYTES = 1 << 30


def drawn(request: dict[str, Any]) -> bytes:
    """The picture, drawn in this process. Raises `ValueError`, with what the library says of a
    document that is no chart."""
    import vl_convert

    document = json.dumps(request["chart"])
    if request["form"] == "svg":
        return vl_convert.vegalite_to_svg(document).encode()
    return vl_convert.vegalite_to_png(document, scale=_PIXELS_PER_POINT)


if __name__ == "__main__":
    import vl_convert  # noqa: F401 (while its file can be read)

    serve(drawn, _MEMORY_BYTES, as_nobody=True)
