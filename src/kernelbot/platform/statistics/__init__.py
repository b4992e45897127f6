"""How much was submitted and judged."""
