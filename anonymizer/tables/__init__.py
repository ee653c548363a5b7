"""Tables as methods see them: frames in and out, roles of columns, codes, files and randomness."""
