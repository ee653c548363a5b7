"""Choosing epsilon: trials at several values, a curve through them, and the largest that keeps a limit."""
