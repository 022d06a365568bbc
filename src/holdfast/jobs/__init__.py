"""Who does it, and when? Knows nothing of knowledge: it runs whatever table of handlers it gets."""
