"""What earlier jobs have told about the own persons, so that a later one does not single one out."""
