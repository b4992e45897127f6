"""Workers' signs of life."""
