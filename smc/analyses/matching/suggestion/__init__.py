"""A recipe for tolerant matching, from one side's own rows and a public model of errors."""
