"""Differential privacy: declared domains, mechanisms by OpenDP, and audits of what they claim."""
