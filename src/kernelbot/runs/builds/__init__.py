"""What compilers made of submissions, kept by content."""
