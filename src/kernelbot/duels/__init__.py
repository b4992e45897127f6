"""Two submissions whose scores are too close to compare, called in turn."""
