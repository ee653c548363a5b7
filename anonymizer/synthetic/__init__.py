"""Synthetic tables with differential privacy: what is measured, what is fitted to it, and rows drawn from that."""
