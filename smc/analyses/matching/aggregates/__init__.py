"""Figures about the rows that both sides have, which stay secret."""
