"""Values that cross the boundary, as bytes."""
