"""Values that cross the trust boundary, as bytes."""
