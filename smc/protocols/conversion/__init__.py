"""Conversions: one value from one form to another, nothing learned on the way unless `opens` says so."""
