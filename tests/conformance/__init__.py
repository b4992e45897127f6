"""Acts as the existing command-line client does, against any server: `make conformance URL=...`."""
