"""The page of an author: what the rankings say of them, gathered."""
