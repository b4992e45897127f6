"""Creating and updating boards from competition files."""
