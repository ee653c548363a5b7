"""Audits of whole commands: what files that leave prove about epsilon, whatever was claimed."""
