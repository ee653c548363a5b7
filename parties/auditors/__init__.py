"""What an auditor does with the evidence of a covert run.

keys       the keys of an auditor
bundles    what a party shows, sealed to the auditor
receipts   what both have signed of a run, which holds a party to its record
audit      the audit of one side
verdicts   what an auditor signs, and how it is checked with the certificates of both parties
"""
