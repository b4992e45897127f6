"""Several ranks, in processes of one family."""
