"""What a board has judged itself, so that absurd scores are seen."""
