"""Joint clustering: k-means over the rows and columns of both parties."""
