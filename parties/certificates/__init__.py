"""Result certificates: what was run, by whom, at which loss, signed, to be checked by anybody at any time."""
