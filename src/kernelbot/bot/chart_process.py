"""Draws one chart: a Vega-Lite document on standard input, a PNG on standard output.

A process of its own, since the library keeps 124 MB once it has drawn anything.
"""

import sys


def main() -> None:
    """Draw it."""
    import vl_convert

    sys.stdout.buffer.write(vl_convert.vegalite_to_png(sys.stdin.read(), scale=2.0))


if __name__ == "__main__":
    main()
