"""What a model of one side says of each row of the other."""
