"""Draws one chart: a Vega-Lite document on standard input, the picture on standard output.

A process of its own, since the library keeps 124 MB once it has drawn anything.
"""

import sys

_PIXELS_PER_POINT = 2.0


def main() -> None:
    """Draw it in the format that the first argument names, `png` or `svg`."""
    import vl_convert

    document = sys.stdin.read()
    if sys.argv[1] == "svg":
        sys.stdout.write(vl_convert.vegalite_to_svg(document))
    else:
        sys.stdout.buffer.write(vl_convert.vegalite_to_png(document, scale=_PIXELS_PER_POINT))


if __name__ == "__main__":
    main()
