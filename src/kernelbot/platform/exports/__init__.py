"""Submissions of chosen boards for others: as a file, or as a dataset."""
