"""What a run leaves behind, by which somebody at one party can tell whether that party followed the program.

A run whose randomness is `Randomness.of_run` follows from its seed, the local data and what came in, byte for
byte. So a party keeps its seed and the frames that came, and both keep a chain of digests of what went each
way (`record`). Later the program is run again on these (`replay`); the first frame that it sends otherwise is
the party's own deviation, and a party that followed the program passes whatever came in (`verdict`).
"""
