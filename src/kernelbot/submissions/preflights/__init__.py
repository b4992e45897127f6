"""What compilers said of submissions, before these had a GPU."""
