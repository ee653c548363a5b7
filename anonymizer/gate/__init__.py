"""The gate before a release: looks on the very bytes that leave, and what to do about each finding."""
