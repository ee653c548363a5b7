"""What the joint side and the anonymizer know alike of tables that were not made for them."""
