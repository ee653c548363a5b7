"""Reads predictive models out of files of other programs, none of which can run code here."""
