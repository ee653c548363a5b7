"""From queries to what is added up, what noise it gets, and what is reported."""
