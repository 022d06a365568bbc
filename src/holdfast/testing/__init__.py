"""What if? Production code, unmodified, on greenlets, under every kind of bad luck."""
