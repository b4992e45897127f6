"""Reading the ranking: pages of it, and the ranks of submissions."""
