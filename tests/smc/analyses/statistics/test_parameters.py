"""Reading statistics jobs, and fitting them to declared columns."""

from __future__ import annotations

import tomllib
from fractions import Fraction

import pytest

from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.statistics.plans.plan import plan
from smc.analyses.studies.columns import Schema
from smc.errors import UsageError
from smc.forms import Role

AGE = Schema("integer", lower=0, upper=150, unit="years")
WEIGHT = Schema("decimal", scale=1, lower=0, upper=2500, unit="kg")
GROUP = Schema("category", categories=("A", "B", "AB", "0"))
SCHEMAS = {"age": AGE, "weight": WEIGHT, "group": GROUP}


def parsed(text):
    return STATISTICS.parse(tomllib.loads(text))


def one(query, top='epsilon = "1.0"\nmaximum_rows = 1000'):
    return parsed(f"{top}\n[[queries]]\n{query}")


def checked(query, **changes):
    study = one(query)
    study.check(SCHEMAS, SCHEMAS | changes)
    return study


def test_defaults():
    study = parsed('epsilon = "1"\n[[queries]]\nkind = "count"\n[[queries]]\nkind = "sum"\ncolumn = "age"')
    assert study.parameters.maximum_rows == 10_000_000
    assert [query.loss.epsilon for query in study.parameters.queries] == [Fraction(1, 2)] * 2
    assert [query.name for query in study.parameters.queries] == ["count", "sum of age"]
    assert study.facts(frozenset(Role)).loss.epsilon == 1
    assert study.columns[Role.ALICE] == study.columns[Role.BOB] == ("age",)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"0.1"', Fraction(1, 10)),
        ('"1/3"', Fraction(1, 3)),
        ("2", Fraction(2)),
        *((wrong, None) for wrong in ("0", "0.5", "true", "[1]")),
        *(
            (f'"{wrong}"', None)
            for wrong in ("", "0", "-1", "1/0", "101", "1e0", "9e999999999", "1_0", "nan", "inf")
        ),
    ],
)
def test_epsilon_is_exact_or_refused(text, value):
    def read():
        return one('kind = "count"\ncolumn = "age"', f"epsilon = {text}")

    if value is None:
        with pytest.raises(UsageError, match="epsilon"):
            read()
    else:
        assert read().parameters.loss.epsilon == value


LONG = "100000000000000000001/200000000000000000009"


@pytest.mark.parametrize(
    "budget",
    [
        f'epsilon = "{LONG}"',
        'epsilon = "1.0000000001"',
        f'noise = "gaussian"\nrho = "{LONG}"',
        'noise = "gaussian"\nepsilon = "1"\ndelta = "0.00000000010"',
    ],
)
def test_a_loss_has_few_digits(budget):
    """Sums of what many jobs lose would else be too long to be written."""
    with pytest.raises(
        UsageError, match=r"parameters\.(epsilon|rho|delta) has a numerator or denominator above"
    ):
        one('kind = "count"\ncolumn = "age"', budget)


def test_a_share_has_few_digits():
    text = 'epsilon = "1"\n' + "".join(
        f'[[queries]]\nkind = "count"\ncolumn = "age"\nname = "{name}"\nshare = "{share}"\n'
        for name, share in (("a", "1/3000000000"), ("b", "2999999999/3000000000"))
    )
    with pytest.raises(UsageError, match=r"share has a numerator or denominator above"):
        STATISTICS.parse(tomllib.loads(text))


def test_a_float_epsilon_comes_with_its_hint():
    with pytest.raises(UsageError, match=r'Quote it: "0\.5"'):
        one('kind = "count"\ncolumn = "age"', "epsilon = 0.5")


def test_shares_of_epsilon():
    text = 'epsilon = "2"\n' + "".join(
        f'[[queries]]\nkind = "count"\ncolumn = "age"\nname = "{name}"\nshare = "{share}"\n'
        for name, share in (("a", "0.25"), ("b", "3/4"))
    )
    assert [query.loss.epsilon for query in parsed(text).parameters.queries] == [
        Fraction(1, 2),
        Fraction(3, 2),
    ]
    for wrong in ('"0.5"', "0.25", '"0"', '"-0.25"'):
        with pytest.raises(UsageError, match="share"):
            parsed(text.replace('"0.25"', wrong))
    with pytest.raises(UsageError, match="missing"):
        parsed(text.replace('share = "0.25"\n', ""))


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ('kind = "mode"\ncolumn = "age"', "known statistic"),
        ('column = "age"', "known statistic"),
        ('kind = "sum"', "column is missing"),
        ('kind = "sum"\ncolumn = ""', "not a name"),
        ('kind = "sum"\ncolumn = 3', "not a name"),
        ('kind = "sum"\ncolumn = "age"\nuper = "3"', "unknown key 'uper'"),
        ('kind = "count"\ncolumn = "age"\nlower = 3', "unknown key 'lower'"),
        ('kind = "sum"\ncolumn = "age"\nlower = 1.5', "float"),
        ('kind = "sum"\ncolumn = "age"\nlower = 5\nupper = 4', "lower is above upper"),
        ('kind = "sum"\ncolumn = "age"\nname = " "', "not a name"),
        ('kind = "histogram"\ncolumn = "age"\nedges = [1]', "fewer than two"),
        ('kind = "histogram"\ncolumn = "age"\nedges = [1, 1]', "increase"),
        ('kind = "histogram"\ncolumn = "age"\nedges = "abc"', "not a list"),
        ('kind = "histogram"\ncolumn = "age"\nedges = [0.5, 1]', "float"),
        ('kind = "histogram"\ncolumn = "group"\ncategories = []', "empty"),
        ('kind = "histogram"\ncolumn = "group"\ncategories = ["A", "A"]', "different strings"),
        ('kind = "histogram"\ncolumn = "group"\ncategories = [1]', "different strings"),
        ('kind = "histogram"\ncolumn = "age"\nedges = [0, 1]\ncategories = ["A"]', "edges and categories"),
        ('kind = "count"', "no rows to count"),
    ],
)
def test_wrong_queries_are_named(query, words):
    with pytest.raises(UsageError, match=words):
        one(query)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "epsilon is missing"),
        ('epsilon = "1"', "1 to 1000 queries"),
        ('epsilon = "1"\nqueries = []', "1 to 1000 queries"),
        ('epsilon = "1"\nqueries = "count"', "1 to 1000 queries"),
        ('epsilon = "1"\nqueries = [1]', "not a table"),
        ('epsilon = "1"\ndelta = "0"\n[[queries]]\nkind = "count"', "unknown key 'delta'"),
        ('epsilon = "1"\nmaximum_rows = 0\n[[queries]]\nkind = "count"\ncolumn = "age"', "maximum_rows"),
        ('epsilon = "1"\nmaximum_rows = true\n[[queries]]\nkind = "count"\ncolumn = "age"', "maximum_rows"),
        ('epsilon = "1"\nmaximum_rows = "9"\n[[queries]]\nkind = "count"\ncolumn = "age"', "maximum_rows"),
    ],
)
def test_wrong_tables_are_named(text, words):
    with pytest.raises(UsageError, match=words):
        parsed(text)


def test_names_are_unique():
    with pytest.raises(UsageError, match="Two queries are called 'count of age'"):
        parsed('epsilon = "1"\n' + '[[queries]]\nkind = "count"\ncolumn = "age"\n' * 2)


@pytest.mark.parametrize(
    "query",
    [
        'kind = "count"\ncolumn = "group"',
        'kind = "sum"\ncolumn = "age"',
        'kind = "sum"\ncolumn = "weight"\nlower = "-0.5"\nupper = "99.9"',
        'kind = "mean"\ncolumn = "weight"',
        'kind = "histogram"\ncolumn = "weight"\nedges = ["0.5", 1, "99.9"]',
        'kind = "histogram"\ncolumn = "group"',
        'kind = "histogram"\ncolumn = "group"\ncategories = ["B", "A"]',
    ],
)
def test_fitting_columns_pass(query):
    checked(query)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ('kind = "sum"\ncolumn = "height"', "has no column"),
        ('kind = "sum"\ncolumn = "group"', "needs a number"),
        ('kind = "mean"\ncolumn = "group"', "needs a number"),
        ('kind = "sum"\ncolumn = "weight"\nlower = "0.05"', "more decimals"),
        ('kind = "sum"\ncolumn = "age"\nlower = "1/3"', "more decimals"),
        ('kind = "sum"\ncolumn = "age"\nlower = 0\nupper = 0', "bounds"),
        ('kind = "mean"\ncolumn = "age"\nlower = 7\nupper = 7', "bounds"),
        ('kind = "sum"\ncolumn = "age"\nlower = 200', "bounds"),
        ('kind = "histogram"\ncolumn = "age"', "does not fit"),
        ('kind = "histogram"\ncolumn = "age"\ncategories = ["A"]', "does not fit"),
        ('kind = "histogram"\ncolumn = "group"\nedges = [0, 1]', "labels"),
        ('kind = "histogram"\ncolumn = "group"\ncategories = ["C"]', "labels"),
        ('kind = "histogram"\ncolumn = "weight"\nedges = [0, "0.55"]', "more decimals"),
    ],
)
def test_queries_that_do_not_fit_their_column_are_named(query, words):
    with pytest.raises(UsageError, match=words):
        checked(query)


@pytest.mark.parametrize(
    ("query", "column", "other"),
    [
        ('kind = "sum"\ncolumn = "age"', "age", Schema("integer", lower=0, upper=151, unit="years")),
        ('kind = "sum"\ncolumn = "age"', "age", Schema("integer", lower=0, upper=150, unit="months")),
        ('kind = "sum"\ncolumn = "weight"', "weight", Schema("decimal", 2, 0, 2500, unit="kg")),
        ('kind = "count"\ncolumn = "age"', "age", GROUP),
        (
            'kind = "histogram"\ncolumn = "group"',
            "group",
            Schema("category", categories=("B", "A", "AB", "0")),
        ),
    ],
)
def test_columns_that_differ_between_the_sides_are_named(query, column, other):
    with pytest.raises(UsageError, match="differently"):
        checked(query, **{column: other})


def test_declared_bounds_may_differ_where_the_query_states_its_own():
    other = Schema("integer", lower=10, upper=99, unit="years")
    checked('kind = "sum"\ncolumn = "age"\nlower = 0\nupper = 120', age=other)
    checked('kind = "histogram"\ncolumn = "age"\nedges = [0, 9]', age=other)


def test_missing_bounds_are_named():
    unbounded = Schema("integer")
    with pytest.raises(UsageError, match="a lower bound"):
        one('kind = "sum"\ncolumn = "x"').check({"x": unbounded}, {"x": unbounded})


@pytest.mark.parametrize(
    ("bound", "rows", "fits"),
    [(1 << 51, 1 << 10, True), (1 << 52, 1 << 10, False), (1 << 40, 1 << 22, False), (1 << 60, 1, False)],
)
def test_what_could_wrap_is_refused(bound, rows, fits):
    schema = {"x": Schema("integer", lower=-bound, upper=bound)}
    study = parsed(f'epsilon = "1"\nmaximum_rows = {rows}\n[[queries]]\nkind = "sum"\ncolumn = "x"')
    if fits:
        study.check(schema, schema)
    else:
        with pytest.raises(UsageError, match=r"63 bits|64-bit"):
            study.check(schema, schema)


def test_noise_that_could_wrap_is_refused():
    wide = {"age": Schema("integer", lower=0, upper=10**9)}
    asked = one('kind = "sum"\ncolumn = "age"', 'epsilon = "1/1000000000"\nmaximum_rows = 1000')
    with pytest.raises(UsageError, match="64-bit words"):
        asked.check(wide, wide)


def test_an_epsilon_whose_delta_is_large_is_refused():
    with pytest.raises(UsageError, match="delta"):
        one('kind = "count"\ncolumn = "age"', 'epsilon = "30"').check(SCHEMAS, SCHEMAS)


@pytest.mark.parametrize("recipients", [{Role.ALICE}, {Role.BOB}, set(Role)])
def test_any_recipients(recipients):
    study = one('kind = "count"\ncolumn = "age"')
    study.check_recipients(frozenset(recipients))
    leakage = study.leakage(frozenset(recipients))
    assert bool(leakage.alice) == (Role.ALICE in recipients)
    assert bool(leakage.bob) == (Role.BOB in recipients)


def test_no_recipients_are_refused():
    with pytest.raises(UsageError, match="Nobody"):
        one('kind = "count"\ncolumn = "age"').check_recipients(frozenset())


def test_too_many_bins_in_all_are_refused():
    schema = {"x": Schema("category", categories=tuple(str(index) for index in range(9999)))}
    text = 'epsilon = "1"\n' + "".join(
        f'[[queries]]\nname = "{index}"\nkind = "histogram"\ncolumn = "x"\n' for index in range(11)
    )
    with pytest.raises(UsageError, match="100000 numbers"):
        parsed(text).check(schema, schema)


@pytest.mark.parametrize(
    ("query", "rates"),
    [
        ('kind = "count"\ncolumn = "age"', ["1"]),
        ('kind = "sum"\ncolumn = "weight"\nlower = -300', ["1/3000"]),
        ('kind = "mean"\ncolumn = "age"\nlower = 0\nupper = 100', ["1/100", "1/2"]),
        ('kind = "mean"\ncolumn = "age"\nlower = 1\nupper = 2', ["1/2", "1/2"]),
        ('kind = "histogram"\ncolumn = "age"\nedges = [0, 50, 100]', ["1", "1"]),
        ('kind = "histogram"\ncolumn = "group"', ["1"] * 4),
    ],
)
def test_noise_has_the_rate_that_epsilon_and_sensitivity_ask_for(query, rates):
    """A mean's sum and count both change with a row, so they share epsilon; a histogram's bins do not."""
    (planned,) = plan(one(query).parameters, SCHEMAS)
    assert [distribution.rate for distribution in planned.distributions] == [Fraction(rate) for rate in rates]
