"""How is it done? One craft per corner; a stage takes a batch and gives a batch."""
