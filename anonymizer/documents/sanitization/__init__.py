"""Sanitization: words that carried a successful attack are generalized or deleted."""
