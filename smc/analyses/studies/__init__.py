"""What a job is to a daemon: a study, what it is stated in, and the one way to run it."""
