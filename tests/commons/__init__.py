"""Tests of what the packages share."""
