"""The privacy ledger: what has been spent, written before a result is opened and never taken back."""
