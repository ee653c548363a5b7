"""The deviations that are known by name, what has to become of them, and the tests that make them.

Generic changes of messages are in `entries.py`. These are what somebody would do who knows the protocols.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final


class End(Enum):
    """What has to become of a deviation."""

    ERROR = "error"
    """The other side ends with a typed error before it opens anything, but for a chance that is stated."""

    HARMLESS = "harmless"
    """The peer that deviates learns nothing by it."""

    UNSEEN = "unseen"
    """The level private does not prevent it: it bends results, or what is opened: see the threat model. An
    audit of a covert run convicts it. That the peer learns nothing by it before something is opened is tested
    of products and stores."""

    OPEN = "open"
    """It should end with an error or be harmless, and no test makes it yet."""


@dataclass(frozen=True)
class Named:
    """A deviation.

    Attributes:
        what: in words.
        end: what has to become of it.
        tests: that make it, as `file::test`.
        audits: tests in which an audit convicts it.
    """

    what: str
    end: End
    tests: tuple[str, ...] = ()
    audits: tuple[str, ...] = ()


_KEY_HOLDERS = "tests/smc/ciphers/test_lattice_key_holders.py"
_SAME = f"{_KEY_HOLDERS}::test_what_is_sent_is_the_same_whatever_the_key_holder_has_encrypted"
_CONSISTENCY = "tests/smc/oblivious/test_consistency.py"
_MATRIX = f"{_CONSISTENCY}::test_a_changed_bit_of_a_matrix_ends_the_session_before_anything_is_opened"
_VOLE = "tests/smc/oblivious/test_vole.py"
_REFILL = "test_a_bent_refill_of_the_first_entries_is_found"
_COMMIT = "tests/parties/ledger/test_commit.py"
_EVALUATORS = "tests/smc/ciphers/test_lattice_evaluators.py"
_KEPT = "tests/conformance/test_bent_results.py"
_INSIDE = "tests/parties/evidence/test_named_deviations.py::test_who_deviates_inside_a_protocol_is_convicted"
_DEVIATIONS = "tests/parties/evidence/test_deviations.py"
_PRODUCTS = "tests/smc/evidence/test_products.py"
_DAEMON = "tests/parties/evidence/test_hostile_daemon.py::test_it_is_convicted_and_the_other_cleared"
_ANY_KIND = "tests/conformance/test_evidence.py::test_an_audit_names_the_message_that_was_changed"
_UNIFORM = f"{_KEPT}::test_what_comes_after_a_bent_store_is_uniform_whoever_has_which_rows"

TRANSFERS: Final = (
    Named("a bit of a matrix of 1-of-2 transfers is flipped", End.ERROR, (_MATRIX,)),
    Named("a bit of a matrix of 1-of-16 transfers is flipped", End.ERROR, (_MATRIX,)),
    Named("the refill of a vector OLE is bent", End.ERROR, (f"{_VOLE}::{_REFILL}",)),
    Named(
        "a sum of a seed tree is bent",
        End.ERROR,
        ("tests/smc/oblivious/test_setup.py::test_bent_sums_pass_only_where_choices_were_guessed",),
    ),
    Named(
        "a sum of a tree of a vector OLE is bent, of leaves and of a level",
        End.ERROR,
        (f"{_VOLE}::test_a_bent_sum_of_leaves_is_found", f"{_VOLE}::test_a_bent_sum_of_a_level_is_found"),
    ),
    Named(
        "a sum of a silent refill is bent, in the first level and in the last",
        End.ERROR,
        (f"{_CONSISTENCY}::test_a_bent_sum_of_a_silent_refill_ends_the_session",),
    ),
    Named(
        "one silent tree has another difference",
        End.ERROR,
        (f"{_CONSISTENCY}::test_one_silent_tree_of_another_difference_ends_the_session",),
    ),
    Named(
        "seed trees are grown until two rows are equal",
        End.HARMLESS,
        (f"{_CONSISTENCY}::test_rows_that_are_equal_by_design_give_unlike_pads",),
    ),
    Named(
        "a wrong proof or mask of a consistency check",
        End.ERROR,
        (f"{_CONSISTENCY}::test_a_changed_proof_or_mask_ends_the_session",),
    ),
    Named(
        "the proof of an earlier session",
        End.ERROR,
        (f"{_CONSISTENCY}::test_the_proof_of_an_earlier_session_ends_the_session",),
    ),
    Named(
        "base points: off the curve, equal ones, reflected ones",
        End.ERROR,
        (
            "tests/smc/oblivious/test_base_ot.py::test_points_off_the_curve_are_refused",
            "tests/smc/oblivious/test_base_ot.py::test_points_that_were_sent_before_are_refused",
        ),
    ),
    Named(
        "a matrix of choices that is no code word",
        End.ERROR,
        (_MATRIX,),
    ),
)
PRODUCTS: Final = (
    Named(
        "a key holder encrypts fractions of the scale",
        End.HARMLESS,
        (f"{_KEY_HOLDERS}::test_the_attack_reads_nothing_from_what_is_sent", _SAME),
    ),
    Named("a key holder encrypts with noise of a quarter of the modulus", End.HARMLESS, (_SAME,)),
    Named("a key holder's encryptions of zero are none", End.HARMLESS, (_SAME,)),
    Named(
        "an evaluator answers with monomials, and reads the secret from opened shares",
        End.UNSEEN,
        (
            f"{_KEPT}::test_an_evaluator_that_answers_with_monomials_hears_what_an_honest_one_does",
            f"{_EVALUATORS}::test_shares_that_are_opened_after_monomials_give_what_was_encrypted",
            f"{_EVALUATORS}::test_a_secret_that_was_read_opens_nothing_under_another",
        ),
        (f"{_PRODUCTS}::test_an_evaluator_that_answers_with_monomials_is_named",),
    ),
)
STORES: Final = (
    Named(
        "a receiver spoils entries at keys that it knows to be common",
        End.HARMLESS,
        (
            "tests/smc/protocols/test_oprf.py"
            "::test_a_receiver_that_spoils_what_it_asks_reads_nothing_of_the_offset",
        ),
    ),
    Named(
        "all rows are said to match",
        End.UNSEEN,
        (f"{_KEPT}::test_a_receiver_that_says_all_rows_match_hears_what_an_honest_one_does",),
        (_INSIDE,),
    ),
    Named(
        "a store has other payloads",
        End.UNSEEN,
        (f"{_KEPT}::test_a_store_with_one_payload_bends_the_members", _UNIFORM),
        (_INSIDE,),
    ),
    Named(
        "a key is put into one of its bins alone",
        End.UNSEEN,
        (f"{_KEPT}::test_keys_in_one_bin_alone_bend_the_members", _UNIFORM),
        (_INSIDE,),
    ),
)
CIRCUITS: Final = (
    Named("the opening of a triple is flipped", End.UNSEEN, audits=(_DAEMON,)),
    Named("another table of leaves is offered", End.UNSEEN, audits=(_DAEMON,)),
    Named("the shift of a digit is bent", End.UNSEEN, audits=(_ANY_KIND,)),
    Named(
        "another vector for each bit of a product by transfers",
        End.UNSEEN,
        audits=(f"{_PRODUCTS}::test_a_sender_that_gives_another_vector_for_a_bit_of_the_integers_is_named",),
    ),
    Named("own shares of biased bits of noise are flipped", End.UNSEEN, audits=(_INSIDE,)),
    Named(
        "own words of noise are zero: the sum stays uniform",
        End.HARMLESS,
        (
            "tests/smc/secret/noise/test_noise.py"
            "::test_a_biased_bit_is_exact_and_no_own_word_says_anything_of_it",
        ),
    ),
    Named(
        "the bit that all limits hold is flipped",
        End.UNSEEN,
        audits=(_ANY_KIND, f"{_DEVIATIONS}::test_other_limits_than_were_agreed_on"),
    ),
    Named("a number is added to the share that is opened", End.UNSEEN, audits=(_DAEMON,)),
    Named("a number is added to the share of a count", End.UNSEEN, audits=(_INSIDE,)),
)
COURSE: Final = (
    Named(
        "other data than in an earlier job",
        End.UNSEEN,
        ("tests/parties/jobs/test_covert.py::test_columns_of_earlier_jobs_are_found_until_a_cell_changes",),
        (f"{_DEVIATIONS}::test_other_data_than_were_committed",),
    ),
    Named(
        "a value outside its declared bounds",
        End.UNSEEN,
        audits=(f"{_DEVIATIONS}::test_data_that_no_data_set_has_convict",),
    ),
    Named(
        "a half of public coins that is not the one committed to",
        End.ERROR,
        ("tests/conformance/test_kinds.py::test_a_changed_message_ends_as_its_entry_says",),
    ),
    Named(
        "stops at the gate, or after the end",
        End.HARMLESS,
        (
            f"{_COMMIT}::test_a_peer_that_stops_at_the_gate_costs_nothing",
            f"{_COMMIT}::test_a_peer_that_announces_and_stops_costs_a_bounded_part_and_leaves_its_word",
        ),
    ),
    Named(
        "a pool of another filling",
        End.ERROR,
        ("tests/conformance/test_kinds.py::test_a_changed_message_ends_as_its_entry_says",),
    ),
)

EVERY: Final = (*TRANSFERS, *PRODUCTS, *STORES, *CIRCUITS, *COURSE)
