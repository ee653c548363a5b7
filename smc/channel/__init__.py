"""Typed messages both ways: what a protocol sends, what it expects, and what that cost."""
