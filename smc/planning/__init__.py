"""From a comparison type and a network to the cheapest allowed route, as a value that can be run."""
