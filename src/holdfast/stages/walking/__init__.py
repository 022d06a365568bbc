"""How is a folder walked? What counts as content, and what is passed over for which reason."""
