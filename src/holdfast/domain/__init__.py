"""What is true? Values and rules that need nothing from outside."""
