"""What analyses share of rows: keys and their normal forms, exact numbers, fixed-point columns."""
