"""The log of what organisers did."""
