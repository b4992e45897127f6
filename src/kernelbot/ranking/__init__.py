"""Who is ranked where, and how scores became better."""
