"""How does one come in? Each door translates, calls one workflow function, translates back."""
