"""Composition root: the only place that wires settings, pools, services and processes."""
