"""Risk as distance: how near a release, a synthetic one too, comes to the records that it was made of."""
