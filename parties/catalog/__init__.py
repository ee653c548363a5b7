"""Named data sets with declared columns: what a party lets jobs use, and how it is read, strictly."""

from __future__ import annotations

EXAMPLE = """\
# The data sets that jobs may name. A job sees declared columns only; the peer sees declarations only.
# `duetto data add FILE` drafts an entry here; docs/catalog.md has every key.
#
# [datasets.patients]
# source = "patients.csv"            # .csv, .xlsx or .parquet, relative to this file
# delimiter = ";"                    # how a file is written, where that is not plain: also encoding, decimal,
# date_format = "%d.%m.%Y"           # thousands, missing_tokens
# key = "visit_id"                   # optional: column, or list of columns, that is never empty or twice
# person = "patient_id"              # optional: column, or list of columns, that tells whom a row is about;
#                                    # limits and privacy then count persons, else each row is a person
# population = "inhabitants"         # optional: data sets about the same people name the same population and
#                                    # share one privacy budget; the default is the data set's own name
#
# [datasets.patients.columns.patient_id]
# type = "text"                      # for matching: no blanks around it, Unicode form NFC, leading zeros stay
# maximum_length = 40                # characters, 200 by default
# missing = "drop"                   # what a missing cell does: "error" (the default), or "drop": its row is
#                                    # left out of jobs that use the column, and the result says how many
#
# [datasets.patients.columns.age]
# type = "integer"
# lower = 0
# upper = 120
# unit = "years"
# missing_tokens = ["?", "NA"]       # what counts as missing, besides an empty cell
# impute = "40"                      # what stands for a missing cell, instead of missing = "drop"
#
# [datasets.patients.columns.creatinine]
# type = "decimal"                   # held as an integer times 10**-scale, never as a float
# scale = 2
# lower = "0.00"
# upper = "20.00"
#
# [datasets.patients.columns.smoker]
# type = "category"
# values = ["no", "yes", "former"]
#
# [datasets.patients.columns.admitted]
# type = "date"                      # ISO dates, held as days since 1970-01-01
# lower = 2000-01-01
# upper = 2030-12-31
#
# [datasets.patients.columns.site]
# type = "category"
# values = ["north", "south"]
# constant = "north"                 # not in the source: every row has this value
#
# [datasets.visits]
# kind = "sql"
# url = "sqlite:///hospital.db"      # opened read-only; else driver = "psycopg", url_file = "db.url"
# query = "select age from visits where year = 2024"
# [datasets.visits.columns.age]
# type = "integer"
# lower = 0
# upper = 120
#
# [datasets.limit]
# kind = "value"                     # a single row, written here
# values = { limit = 40 }
# [datasets.limit.columns.limit]
# type = "integer"
# lower = 0
# upper = 120
"""
"""The commented text of a new `catalog.toml`; it declares nothing."""
