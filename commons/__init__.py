"""What `smc`, `parties` and `anonymizer` share: it lies below all three and knows none of them."""
