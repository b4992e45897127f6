// What the chart of a board's trend uses of uPlot; `scripts/build_chart.py` makes one file of it.
export { default } from "uplot";
