"""Numbers: modular powers in batches, randomness from the operating system."""
