"""How does a text become a vector on this machine alone? The models that come as wheels."""
