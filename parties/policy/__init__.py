"""What a party allows: rules, and the verdict on one job. Nothing is allowed unless a rule allows it."""

from __future__ import annotations

EXAMPLE = """\
# Who may compute what on which data. Nothing is allowed unless one rule allows the whole job.
# The peer's policy is asked as well; a job runs only if both allow it. `duetto policy test JOB` explains.
#
# [[rules]]
# name = "statistics with south"
# analyses = ["statistics"]          # see docs/analyses.md; "*" means all
# peers = ["south"]
# datasets = ["patients"]
# columns = ["age", "smoker"]        # local columns that a job may use
# recipients = ["both"]              # who may get results: "self", "peer", or "both"
# types = ["SS-SS-SS"]               # optional: comparison types, * for any form
# parameters = { method = ["exact"], output = ["size"] }   # optional: values that a job may give
# minimum_rows = 50                  # persons, or rows where the data set declares none; 0 unless given
# runs_per_day = 10                  # optional
# runs_total = 5                     # runs on the same people with a peer, ever, those that fail included;
#                                    # needed for jobs that match rows and for exact ones; 100 unless given
#                                    # where epsilon_total is
# keys = ["card"]                    # optional: columns by which rows may be matched; for exact figures key
#                                    # and person of the data set unless given
# values = ["age"]                   # optional: columns that may be used for anything else
# queries = ["count", "mean"]        # optional: kinds of statistics
# may_state = ["where", "derived"]   # optional: what a job may state of its own: where, derived, bounds,
#                                    # centres; anything unless given, for exact figures where and derived
# maximum_seconds = 3600             # 3600 unless given
# approval = "person"                # a person decides (`duetto job approve`); "auto" needs none;
#                                    # { role = "steward", count = 2 } asks for persons with keys
# approval_days = 30                 # the job has to begin within so many days after that; 30 unless given
#
# # Noisy results: the privacy loss (epsilon, delta) of a job, and of all jobs of a data set's population
# # with a peer, which is never refilled. Exact numbers; nothing may be lost unless given.
# epsilon_per_job = "1/2"
# delta_per_job = "2^-30"            # 2^-30 unless given
# epsilon_total = "2"
# delta_total = "2^-30"              # 2^-30 unless given
#
# # Exact results about groups of people: refused unless true.
# exact_aggregates = true
# figures_per_job = 4                # how many of them a plan may hold, which are judged together; 1 unless
#                                    # given
# overlap = 10                       # two exact jobs use the same persons of this party, or differ in so many
#                                    # at least (and in at least minimum_group)
#
# # Limits on results. The stricter of both parties' limits holds, and of tables, where each side can
# # subtract its own part, of each part those of its own side; both stand in the contract.
# minimum_group = 10                 # the least number of persons in a cell, cluster or sum; in tables: of
#                                    # this side
# dominance = "0.8"                  # the largest part of a sum that may come from one person; "0.8" unless
#                                    # given, if exact_aggregates and minimum_group are
# zeros = "withheld"                 # cells of tables in which this side has nobody are withheld like small
#                                    # ones; "shown" for tables by few labels that everybody knows
# minimum_set = 100                  # the least number of rows that each side brings to a matching
# maximum_ratio = "10"               # how many times as many rows one side of a matching may have; "10"
#                                    # unless given, "2" for pairs of rows that are alike; 0 for none
# minimum_intersection = 10          # the least number of matches for anything about them to be released
#
# # What a job may rest on: with false there is no matching by keys, and no silent comparison.
# lpn = true
#
# # Runs that an auditor can check, see docs/covert.md: covert jobs by these auditors alone; with security no
# # others.
# security = "covert"
# auditors = { office = "6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f" }
# audit_rate = "1/10"                # the least probability of an audit
# evidence_days = 0                  # for how long the record is kept of a run that is not due for one
#
# # Results about single rows: outcomes of comparisons that somebody sees, matched keys and pairs, labels.
# # Refused unless true, and then runs_total is needed, and for comparisons types.
# row_results = true
# answers_total = 1000               # where a local model scores rows of a peer: the rows of a run times
#                                    # runs_total may be so many; needed for such jobs
"""
"""The commented text of a new `policy.toml`; it allows nothing."""
