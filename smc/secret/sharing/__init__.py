"""What shared numbers are made of: bounds, fixed point, shapes, masks, opening, and work sent ahead."""
