"""Tests of settings in TOML."""
