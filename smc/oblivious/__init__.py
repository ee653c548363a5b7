"""Oblivious transfer between the two parties, and the XOR-shared circuits made from it."""
