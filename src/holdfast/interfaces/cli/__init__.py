"""How does one come in from a shell? A command a file; each calls the library and says what is."""
