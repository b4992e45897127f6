"""Source files with an author and a mode, and what people see of them."""
