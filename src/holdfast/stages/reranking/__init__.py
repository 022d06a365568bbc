"""Who reads the found passages once more beside the question? The rerankers."""
