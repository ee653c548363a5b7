"""Protocols: one file each, with figure, messages, `alice`, `bob` and their records (`SPEC`)."""
