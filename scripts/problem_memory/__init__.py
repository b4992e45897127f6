"""How much memory a problem's data needs, calculated without making it."""
