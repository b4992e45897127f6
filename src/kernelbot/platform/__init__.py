"""The installation as a whole: accepting submissions, and what it says of itself."""
