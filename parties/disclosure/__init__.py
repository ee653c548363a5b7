"""What earlier jobs have revealed about the local persons, so that a later one does not single one out."""
