"""What organisers look at, decide, delete and measure again."""
