"""What two parties agree on: job files, contracts, their canonical form, states and what is kept of a job."""
