"""How is it done? Crafts that take a value and give a value; loops and fences stand above."""
