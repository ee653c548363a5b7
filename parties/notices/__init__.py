"""Notices of events: what people are told outside of the dashboard, without anything confidential."""
