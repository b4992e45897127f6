"""What all nouns share: the error tree, states with their transitions, ids. No input or output."""
