"""Predictive models of one side: one form of them, what they predict in the clear, and as whole numbers."""
