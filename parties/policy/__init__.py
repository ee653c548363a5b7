"""What a party allows: rules, and the verdict on one job. Nothing is allowed unless a rule allows it."""

from __future__ import annotations

EXAMPLE = """\
# Who may compute what on which data. Nothing is allowed unless one rule allows the whole job.
# The peer's policy is asked as well; a job runs only if both allow it.
#
# [[rules]]
# name = "statistics with south"
# analyses = ["statistics"]          # or "comparison", "preparation"; "*" means all
# peers = ["south"]
# datasets = ["patients"]
# columns = ["age", "smoker"]        # own columns that a job may use
# recipients = ["both"]              # who may get results: "self", "peer", or "both"
# types = ["SS-SS-*"]                # optional: comparison types, * for any form
# epsilon_per_job = "1/2"            # exact; 0 unless given
# epsilon_total = "2"                # for each data set and peer, never refilled; 0 unless given
# minimum_rows = 50                  # of the own data set; 0 unless given
# runs_per_day = 10                  # optional
# max_seconds = 3600                 # 3600 unless given
# approval = "person"                # a person decides (`duetto job approve`); "auto" needs none
"""
"""The commented text of a new `policy.toml`; it allows nothing."""
