"""How is a model asked that runs elsewhere? One endpoint, and what its answers mean."""
