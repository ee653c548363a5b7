"""An analysis that the daemon has never heard of, whose rows belong together by their position."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from parties.contracts.state import State
from parties.errors import DataError
from smc.analyses.disclosure.figures import Shares
from smc.analyses.disclosure.release import Release
from smc.analyses.studies.columns import Data
from smc.analyses.studies.outcome import Outcome, Table
from smc.channel.vectors import ExpectedWords, Words
from smc.protocols.session import Session
from tests.parties.jobs.addition import Addition, Sum, Total
from tests.parties.jobs.joined import ROLES, Pair, job_file, wait_final

GAPS = {"north": ("1", "?", "3", "4"), "south": ("10", "20", "?", "40")}
WHOLE = {"north": ("1", "2", "3", "4"), "south": ("10", "20", "30", "40")}


class ProductsStudy(Sum):
    """The sum of x_i * y_i over rows of the same position; in the clear, for tests."""

    def run(self, session: Session, data: Data, recipients: Any, release: Release) -> Outcome:
        release.admit(Shares())
        own = np.array(data["v"].integers, np.uint64)
        session.channel.send(Total(Words(own)))
        theirs = session.channel.recv(Total, ExpectedWords(len(own)))
        return Outcome((Table("sum", {"total": [int((own * theirs).sum())]}),))


class Products(Addition):
    """The analysis of it."""

    def kind(self) -> type[Sum]:
        return ProductsStudy


def products(pair: Pair, cells: dict[str, tuple[str, ...]], *, is_paired: bool) -> Pair:
    """Both parties run `Products`, and leave out rows with missing cells."""
    for name in ROLES:
        pair.stop(name)
        pair.analysis[name] = Products(is_paired=is_paired)
        home = pair.folder / name
        catalog = home / "catalog.toml"
        catalog.write_text(catalog.read_text() + 'missing = "drop"\nmissing_tokens = ["?"]\n')
        (home / "numbers.csv").write_text("\n".join(("value", *cells[name], "")))
    for name in ROLES:
        pair.start(name)
    return pair


def total(pair: Pair) -> int:
    job_id = pair.north.submit(job_file()).job_id
    states = [wait_final(manager, job_id).state for manager in (pair.north, pair.south)]
    assert states == [State.FINISHED] * 2
    (table,) = json.loads(pair.north.result(job_id))["outcome"]["tables"]
    return int(table["columns"]["total"][0])


def test_whole_columns_are_paired_by_position(pair: Pair) -> None:
    assert total(products(pair, WHOLE, is_paired=True)) == 10 + 40 + 90 + 160


@pytest.mark.parametrize("side", ROLES)
def test_no_row_is_left_out_where_rows_are_paired(pair: Pair, side: str) -> None:
    """Nothing runs, at whichever party a row would have been left out; and nothing is proposed by it."""
    products(pair, WHOLE | {side: GAPS[side]}, is_paired=True)
    if side == "south":  # what rows say is not told for a proposal: a run finds it, and counts
        job_id = pair.north.submit(job_file()).job_id
        assert wait_final(pair.south, job_id).error_code == "data"
        return
    with pytest.raises(DataError) as caught:
        pair.north.submit(job_file())
    assert "by their position" in caught.value.what
    assert pair.network.said == []


def test_what_the_refusal_is_good_for(pair: Pair) -> None:
    """Row 3 of north would be multiplied by row 2 of south; the pairs of whole rows sum to 170."""
    assert total(products(pair, GAPS, is_paired=False)) == 1 * 10 + 3 * 20 + 4 * 40
