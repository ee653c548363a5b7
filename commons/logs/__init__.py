"""Files that only grow: what was written is on the disk before anybody goes on, and survives crashes."""
