"""Noise that both parties draw together and neither knows."""
