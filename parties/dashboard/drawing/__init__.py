"""How pages are made: the desk that all of them work at, templates, style, and how figures are written."""
