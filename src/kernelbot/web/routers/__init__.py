"""The pages' routes, one module for each group of pages."""
