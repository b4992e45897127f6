"""A GPU's driver, arenas and times, as the author's process needs them."""
