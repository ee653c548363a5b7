"""A party's daemon from Python: submit, decide and watch jobs, and get their results.

import duetto

party = duetto.Party()
job = party.submit("statistics.toml")
print(job.wait().result().frames())
"""

from parties.client.asking import ask_daemon, is_reversed
from parties.client.job_file import job_text
from parties.client.party import Job, Party
from parties.client.result import Result

__all__ = ["Job", "Party", "Result", "ask_daemon", "is_reversed", "job_text"]
