"""Which submissions are held, and what organisers decide about them."""
