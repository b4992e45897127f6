"""What a profile shows, read from files that authors' processes have written."""
