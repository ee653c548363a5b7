"""The audit log of a home: what happened to its jobs and its daemon, as a chain of lines."""
