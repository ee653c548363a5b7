"""Search: given a limit for the risk, the parameters of a pipeline with the highest utility."""
