"""The daemon of a party, and how it logs."""
