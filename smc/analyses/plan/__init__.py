"""Several studies as one job: the analysis `plan`."""
