"""Charts as pictures and texts with colours, made in processes of their own."""
