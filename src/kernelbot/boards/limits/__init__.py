"""How much one author may submit to a board."""
