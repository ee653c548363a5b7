"""Runs that can be audited: what a covert job commits to, signs and keeps, and what an auditor says of it.

seeds      commitments to the seed of a run and to this party's part of the coin
cells      columns as canonical bytes, and commitments to them
covert     one side of a covert run: seeds, record, signatures under it, the coin
store      the sealed record of each run in the home
case       all that an audit of one side needs, also sealed for an auditor
audit      the audit of a case
verdicts   what an auditor signs, and how it is checked with both certificates
"""
