"""Differencing: sets of persons that differ in a few are refused, whatever happened to the file."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parties.catalog.columns.persons import aliases, identities
from parties.disclosure.equations import Shown, System
from parties.disclosure.history import PERSON_BYTES, History, OverlapError
from parties.disclosure.log import HistoryError
from parties.disclosure.participants import aliases_of, difference, persons_of
from parties.errors import ConfigError
from parties.ledger.accounting import Account
from tests.parties.disclosure.history_runs import job, people, record

REPOSITORY = Path(__file__).parents[3]


def test_with_and_without_a_person_is_refused(history):
    record(history, job(history, range(100), job="aaaa"))
    for names in (range(99), range(101), [*range(99), "new"], range(1, 100)):
        with pytest.raises(OverlapError, match="aaaa"):
            history.check(job(history, names))
        with pytest.raises(OverlapError):
            record(history, job(history, names))
    assert [record.job for record in history.records()] == ["aaaa"]


def test_equal_sets_and_those_that_differ_enough_are_allowed(history):
    record(history, job(history, range(100)))
    for names in (
        range(100),
        reversed(range(100)),
        range(97),
        range(103),
        [*range(98), "x", "y"],
        range(200, 300),
    ):
        history.check(job(history, names))
    record(history, job(history, range(100)))
    first, second = history.records()
    assert (first.stored, second.stored) == (100, 0)
    assert first.digest == second.digest


def test_every_earlier_job_counts_not_the_last_one_only(history):
    for names in (range(100), range(200, 300), range(400, 500)):
        record(history, job(history, names))
    for start in (0, 200, 400):
        with pytest.raises(OverlapError):
            history.check(job(history, range(start + 1, start + 100)))


def test_other_peers_and_other_people_are_apart_but_a_population_is_one(history):
    record(history, job(history, range(100)))
    history.check(job(history, range(99), peer="west"))
    history.check(job(history, range(99), dataset="staff", account=Account.of("staff")))
    both = Account("city", frozenset({"patients", "visits"}))
    with pytest.raises(OverlapError):
        history.check(job(history, range(99), dataset="visits", account=both))


def test_no_minimum_refuses_nothing(history):
    record(history, job(history, range(100)))
    for minimum in (0, 1):
        history.check(job(history, range(99), minimum))


@given(st.sets(st.integers(0, 12)), st.sets(st.integers(0, 12)))
def test_the_difference_is_the_symmetric_one(one, other):
    first, second = (np.array(sorted(s), dtype=np.uint64) for s in (one, other))
    assert difference(first, second) == len(one ^ other)


def test_nothing_but_hashes_under_the_secret_is_kept(history, tmp_path):
    record(history, job(history, ["anna", "bert"]))
    data = history.path.read_bytes()
    assert b"anna" not in data
    assert history.path.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "keys" / "exact-jobs.key").stat().st_mode & 0o777 == 0o600
    other = identities(["anna"], bytes(32))
    assert persons_of(other).astype("<u8").tobytes() not in data


def test_damage_before_the_end_is_never_taken_for_a_crash(history):
    record(history, job(history, range(10)))
    first = history.path.stat().st_size
    record(history, job(history, range(20, 30)))
    good = bytearray(history.path.read_bytes())
    refused = 0
    for place in range(first):
        spoiled = bytearray(good)
        spoiled[place] ^= 1
        history.path.write_bytes(spoiled)
        with pytest.raises((HistoryError, OverlapError)):
            history.check(job(history, [*range(9)]))
        refused += 1
    assert refused == first
    head, rest = bytes(good).split(b"\n", 1)
    longer = json.dumps(json.loads(head) | {"persons": 999, "stored": 999}).encode()
    history.path.write_bytes(longer + b"\n" + rest)
    with pytest.raises(HistoryError):
        history.records()


def test_a_lost_or_exchanged_secret_is_noticed(history, tmp_path):
    record(history, job(history, range(100)))
    key = tmp_path / "keys" / "exact-jobs.key"
    old = key.read_bytes()
    key.unlink()
    with pytest.raises(HistoryError, match="lost"):
        history.secret()
    key.touch(0o600)
    key.write_bytes(bytes(32))
    with pytest.raises(HistoryError, match="not the secret"):
        history.check(job(history, range(99)))
    key.write_bytes(old[:31])
    with pytest.raises(HistoryError, match="damaged"):
        history.secret()


def test_a_file_that_others_may_read_is_refused(history):
    record(history, job(history, range(3)))
    history.path.chmod(0o644)
    with pytest.raises(ConfigError, match="open to other users"):
        history.records()


def test_of_two_jobs_at_once_only_one_gets_through(history):
    start = threading.Barrier(8)
    refused = []

    def run(number):
        participants = job(history, [n for n in range(100) if n != number])
        start.wait(10)
        try:
            record(history, participants)
        except OverlapError:
            refused.append(number)

    history.secret()
    threads = [threading.Thread(target=run, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(refused) == 7
    assert len(history.records()) == 1


CHILD = """
import sys
from pathlib import Path
from parties.disclosure.participants import ParticipantSet, persons_of
from parties.disclosure.history import History, OverlapError
from parties.catalog.columns.persons import aliases, identities
from parties.ledger.accounting import Account
from tests.parties.disclosure.history_runs import job, people, record
history = History(Path(sys.argv[1]))
names = [str(n) for n in range(100) if n != int(sys.argv[2])]
persons = persons_of(identities(names, history.secret()))
try:
    with history.record(ParticipantSet("aa", Account.of("p"), "p", "south", persons, 3), bool):
        pass
except OverlapError:
    sys.exit(77)
"""


def test_processes_see_each_other(history, tmp_path):
    history.secret()
    children = [
        subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path), str(number)], cwd=REPOSITORY)
        for number in range(3)
    ]
    assert sorted(child.wait(60) for child in children) == [0, 77, 77]
    assert len(history.records()) == 1


def test_a_set_that_the_ledger_names_and_the_file_lacks_is_noticed(history):
    first = record(history, job(history, range(5)))
    second = record(history, job(history, range(5, 15)))
    whole = history.path.read_bytes()
    asked = replace(job(history, range(20, 40)), known=Counter({first: 1, second: 1}))
    history.check(asked)
    for spoilt in (b"", whole[: whole.index(b"\n") + 1 + 5 * PERSON_BYTES]):
        history.path.write_bytes(spoilt)
        for use in (history.check, partial(record, history)):
            with pytest.raises(HistoryError, match=r"lacks [12] records") as caught:
                use(asked)
            assert "backup" in caught.value.hint
        assert history.path.read_bytes() == spoilt
    history.path.unlink()
    with pytest.raises(HistoryError, match="lacks 2 records"):
        history.check(asked)
    history.path.write_bytes(whole)
    history.check(asked)
    # Jobs about other people are not held up.
    history.path.write_bytes(b"")
    history.check(job(history, range(20, 40)))


def test_an_older_copy_with_the_same_set_is_noticed(history):
    first = record(history, job(history, range(5)))
    older = history.path.read_bytes()
    assert record(history, job(history, range(5))) == first
    asked = replace(job(history, range(5)), known=Counter({first: 2}))
    history.check(asked)
    history.path.write_bytes(older)
    with pytest.raises(HistoryError, match="lacks 1 records"):
        history.check(asked)


def shown(history, cells, people=None):
    persons = np.arange(len(cells), dtype=np.uint64) if people is None else np.array(people, dtype=np.uint64)
    count = max(cells) + 1
    return [Shown(persons, np.array(cells), np.eye(count, dtype=bool))]


def test_tables_are_kept_and_compared_with_all_that_the_peer_has_seen(history, tmp_path):
    mine = replace(job(history, range(40)), minimum=5)
    first, same, shifted = ([0] * 20 + [1] * 20, [1] * 20 + [0] * 20, [0] * 22 + [1] * 18)
    assert history.allows(mine, shown(history, first))
    history.record_tables(mine, shown(history, first))
    for again in (History(tmp_path), history):
        assert again.allows(mine, shown(history, same))
        assert not again.allows(mine, shown(history, shifted))
        assert again.allows(replace(mine, peer="west"), shown(history, shifted))
        assert again.allows(replace(mine, minimum=2), shown(history, shifted))
    size = history.path.stat().st_size
    history.record_tables(mine, shown(history, first))
    assert history.path.stat().st_size - size < 400  # the same table is not stored twice
    with pytest.raises(OverlapError, match="fewer than 5 persons"):
        history.record_tables(mine, shown(history, shifted))
    history.check(replace(mine, minimum=0))
    assert len(history.records()) == 0


def test_the_same_tables_are_judged_once_between_asking_and_keeping(history, monkeypatch):
    """As long as nothing else was shown meanwhile."""
    judged = []
    pins_down = System.pins_down
    monkeypatch.setattr(System, "pins_down", lambda *given: judged.append(1) or pins_down(*given))
    mine = replace(job(history, range(40)), minimum=5)
    tables = shown(history, [0] * 20 + [1] * 20)
    assert history.allows(mine, tables)
    history.record_tables(mine, tables)
    assert len(judged) == 1
    assert history.allows(mine, tables)
    assert len(judged) == 2
    assert history.allows(replace(mine, minimum=20), tables)
    assert not history.allows(replace(mine, minimum=21), tables)
    assert len(judged) == 4


def test_a_damaged_table_is_noticed(history):
    mine = replace(job(history, range(40)), minimum=5)
    history.record_tables(mine, shown(history, [0] * 40))
    whole = history.path.read_bytes()
    history.path.write_bytes(whole[:-300] + b"\x01" + whole[-299:])
    with pytest.raises(HistoryError, match="damaged"):
        history.allows(mine, shown(history, [0] * 40))


def test_tables_survive_their_encoding():
    table = Shown(np.array([5, 1, 5], dtype=np.uint64), np.array([0, 2, 1]), np.eye(3, dtype=bool)[:2])
    data = table.encode()
    assert len(data) % 8 == 0
    back = Shown.decode(data, 3, (2, 3), 0)
    assert back.persons.tolist() == [5, 1, 5]
    assert back.cells.tolist() == [0, 2, 1]
    assert back.equations.tolist() == table.equations.tolist()


def test_sums_that_count_from_zero_are_kept_beside_those_that_do_not(history):
    """One person has nearly all of what two sums differ by; records of sums without a zero stay readable."""
    mine = replace(job(history, range(200)), minimum=5, dominance=Fraction(4, 5))
    value = 30 + np.arange(200) % 41
    value[0] = 9000

    def total(rows, far):
        held = value[rows][None]
        cells, opened = np.zeros(len(rows), dtype=np.int64), np.ones((1, 1), dtype=bool)
        return Shown(mine.persons[rows], cells, opened, held + far, held if far else None)

    everybody, others = np.arange(200), np.arange(20, 200)
    table = total(everybody, 47_481)
    back = Shown.decode(table.encode(), 200, (1, 1), 1, 1)
    assert (back.amounts.tolist(), back.signed.tolist()) == (table.amounts.tolist(), table.signed.tolist())
    history.record_tables(mine, [total(everybody, 0)])
    history.record_tables(mine, [table])
    again = History(history.path.parent)
    assert again.allows(mine, [table])
    assert not again.allows(mine, [total(others, 47_481)])


def test_persons_of_earlier_records_are_found_under_their_other_hashes(history, tmp_path):
    mine = replace(job(history, [f"00{n}" for n in range(40)]), minimum=5)
    record(history, mine)
    history.record_tables(mine, shown(history, [0] * 20 + [1] * 20, mine.persons))
    forms, labels = ([*map(str, names)] for names in ([f"00{n}" for n in range(40)], range(40)))
    pairs = aliases_of(aliases(dict(zip(forms, labels, strict=True)), history.secret()))
    now = replace(job(history, range(40)), minimum=5, aliases=pairs)
    assert (now.rename(people(history, forms)) != people(history, forms)).all()
    assert set(now.rename(people(history, forms)).tolist()) == set(now.persons.tolist())
    history.check(now)
    with pytest.raises(OverlapError):
        history.check(replace(now, persons=people(history, range(38))))
    history.check(replace(now, persons=people(history, range(38)), aliases=pairs[:0]))
    cells = [0] * 20 + [1] * 20
    same = now.rename(mine.persons)
    assert history.allows(now, shown(history, cells, same))
    assert not history.allows(now, shown(history, [0] * 22 + [1] * 18, same))


def test_two_names_that_turn_out_to_be_one_person_count_once(history):
    """A record of 6 names, which are 5 persons: it differs from the same 5 in nobody."""
    record(history, job(history, ["7", "007", 1, 2, 3, 4]))
    pairs = aliases_of(aliases({"007": "7"}, history.secret()))
    for names, refused in (([7, 1, 2, 3, 4], False), ([7, 1, 2, 3], True), ([7, 1, 2, 3, 4, 5], True)):
        participants = replace(job(history, names), aliases=pairs)
        if refused:
            with pytest.raises(OverlapError):
                history.check(participants)
        else:
            history.check(participants)


def test_jobs_that_neither_ledger_nor_a_table_tells_of_are_listed(history):
    mine = job(history, range(40), job="aaaa", minimum=5)
    digest = record(history, mine)
    record(history, replace(mine, job="bbbb"))
    record(history, replace(mine, job="cccc", peer="west"))
    history.record_tables(replace(mine, job="dddd"), shown(history, [0] * 40))

    def left(known, peer="south"):
        return [record.job for record in history.unlisted_jobs(mine.account, peer, lambda: Counter(known))]

    assert left({}) == ["aaaa", "bbbb"]
    assert left({digest: 1}) == ["aaaa"]
    assert left({digest: 2}) == []
    assert left({}, "west") == ["cccc"]
    record(history, replace(mine, job="dddd"))
    assert left({digest: 3}) == []
    assert left({digest: 2}) == ["aaaa"]
    assert left({}) == ["aaaa", "bbbb"]


def changes(whole):
    """The file with a bit changed or cut off at every third place, with records swapped, gone or twice."""
    lines = whole.splitlines(keepends=True)
    for place in range(0, len(whole), 3):
        yield whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        yield whole[:place]
    for first, second in ((0, 1), (1, 2), (0, 2)):
        swapped = list(lines)
        swapped[first], swapped[second] = lines[second], lines[first]
        yield b"".join(swapped)
    for number in range(len(lines)):
        yield b"".join([*lines[:number], *lines[number + 1 :]])
        yield b"".join([*lines[:number], lines[number], *lines[number:]])
    yield whole


def test_what_is_remembered_of_the_file_never_hides_a_change_of_it(history, tmp_path):
    """One that has read the file before finds in a changed one what one finds that has not."""
    nobody = job(history, [])
    for name in ("aaaa", "bbbb", "cccc"):
        record(history, replace(nobody, job=name))
    whole = history.path.read_bytes()
    assert whole.count(b"\n") == 3  # without persons there are lines only

    def found(reader):
        try:
            return [(record.job, record.digest) for record in reader.records()]
        except HistoryError as problem:
            return str(problem)

    outcomes = set()
    for changed in changes(whole):
        history.path.write_bytes(whole)
        assert [name for name, _ in found(history)] == ["aaaa", "bbbb", "cccc"]
        history.path.write_bytes(changed)
        outcome = found(history)
        assert outcome == found(History(tmp_path))
        outcomes.add(str(outcome))
    assert len(outcomes) > 10


def test_a_changed_set_is_noticed_by_one_that_has_read_it_before(history):
    record(history, job(history, range(20)))
    near = job(history, range(19))
    with pytest.raises(OverlapError):
        history.check(near)
    whole = history.path.read_bytes()
    history.path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(HistoryError, match="damaged"):
        history.check(near)


def test_how_near_a_kept_set_is_to_earlier_ones(history):
    """An audit at home reads it, whether the job should have been refused or not."""
    for name, names in (("aaaa", range(100)), ("bbbb", range(100)), ("cccc", range(97)), ("dddd", range(9))):
        record(history, job(history, names, job=name))
    given = job(history, range(1))
    found = {name: history.nearest(given.account, given.peer, name) for name in ("aaaa", "bbbb", "cccc", "x")}
    assert found == {"aaaa": None, "bbbb": None, "cccc": 3, "x": None}
    assert history.nearest(given.account, given.peer, "dddd") == 88
    assert history.nearest(given.account, "west", "dddd") is None
    assert history.nearest(Account.of("others"), given.peer, "dddd") is None
