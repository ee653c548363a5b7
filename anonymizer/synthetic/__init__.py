"""Synthetic tables with differential privacy: measured, fitted and drawn."""
