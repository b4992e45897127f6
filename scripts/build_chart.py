"""Make the library of charts again: `web/static/uplot.js`, its styles and its licence.

    python -m scripts.build_chart

Newer versions are taken as `build_editor` describes it, in `scripts/chart`.
"""

from scripts.bundles import Bundle

CHART = Bundle("chart", "uplot", styles="uplot/dist/uPlot.min.css")

if __name__ == "__main__":
    CHART.build()
