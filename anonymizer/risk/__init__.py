"""Risk: what an attacker finds in a release, by simulation, by counting and by attack."""
