"""Results as signed documents, which anybody can check."""
