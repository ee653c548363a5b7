"""What stands before every page: links, sessions, and the refusal of everything else."""
