"""The files that came out of a submission's runs."""
