"""What is kept of jobs: the database, results under seal, the trash, and backups of a home."""
