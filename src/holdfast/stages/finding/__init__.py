"""How is a passage shown to have been found? The pure crafts of search."""
