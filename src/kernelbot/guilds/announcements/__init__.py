"""What Discord is told by itself."""
