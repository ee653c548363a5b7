"""Attacks on a release that need no knowledge of how it was made, judged against a control group.

The attacker has the release and knows some columns of a target. The same attack runs on rows that were never
given to the release, the control group: what succeeds there as well is common knowledge, not a leak.
Reference: Giomi, Boenisch, Wehmeyer and Tasnádi, A unified framework for quantifying privacy risk in
synthetic data, PETS 2023; the three attacks are those of Article 29 Working Party, Opinion 05/2014.

The attacks compare cells. Give them rows in the release's own form: if the release generalizes categories,
`transform` original and control by the same pipeline before. Numbers are read back from labels of intervals.
"""
