"""What is checked of a job before it is approved and before it runs: data, policy, declarations, spending."""
