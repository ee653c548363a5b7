"""What jobs, sessions and transports know of each other, and what two programs have alike."""
