"""Jobs: from a file to a contract that both parties have signed, to a run, to a result that is kept."""
