"""Benchmarks with two processes over the real network stack, on inputs that are made up."""
