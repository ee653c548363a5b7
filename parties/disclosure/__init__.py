"""What earlier jobs have told about the local persons, so that a later one does not single one out."""
