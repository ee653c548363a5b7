"""Numbers as nodes of a binary tree, and what the tree protocols do with them on any cipher."""
