"""Stamps of the heads of ledger and audit log by a service of RFC 3161, kept as files and checked offline."""
