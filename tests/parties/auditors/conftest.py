"""Two joined parties, and an auditor whom both name."""

from __future__ import annotations

import pytest

from parties.auditors.keys import make_keys
from parties.contracts.state import State
from tests.parties.evidence.conftest import institutions
from tests.parties.evidence.covert import covert as covert_job
from tests.parties.evidence.test_covert_jobs import KINDS, SHORT, prepare

__all__ = ["institutions"]


@pytest.fixture
def office():
    return make_keys("office")


@pytest.fixture
def covert(office):
    """Makes a job audited by the office."""

    def made(kind, rate="1"):
        document = covert_job(KINDS[kind], rate)
        document["audit"]["key"] = office.public.fingerprint
        return document

    return made


@pytest.fixture
def ran(institutions, covert, office):
    """Runs a job to its end, by a side that deviates if one is named; its name."""

    def run(kind=SHORT, bends=None, rate="1", **entries):
        prepare(institutions, auditors={"office": office.public.fingerprint}, **entries)
        institutions.network.bends.update(bends or {})
        job_id = institutions.submit(covert(kind, rate))
        for record in institutions.ended(job_id).values():
            assert record.state is State.FINISHED, (record.error_code, record.error_what)
        return job_id

    return run
