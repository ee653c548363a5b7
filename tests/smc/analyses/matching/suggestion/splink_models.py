"""Models as Splink saves them, small ones."""

from __future__ import annotations

LEVELS = (
    ("IS NULL", None, None),
    ("=", 0.9, 0.001),
    ("jaro_winkler > 0.9", 0.07, 0.002),
    ("ELSE", 0.03, 0.997),
)


def splink_model(columns, *, adjusted=("surname",), prior=0.0001):
    """A trained model that compares these columns."""
    return {
        "link_type": "link_only",
        "probability_two_random_records_match": prior,
        "retain_matching_columns": True,
        "comparisons": [
            {"output_column_name": name, "comparison_levels": levels(name in adjusted)} for name in columns
        ],
    }


def levels(adjusted=False):
    found = []
    for condition, m, u in LEVELS:
        level = {"sql_condition": condition, "label_for_charts": condition}
        level |= {"is_null_level": True} if m is None else {"m_probability": m, "u_probability": u}
        found.append(level)
    if adjusted:
        found[1] |= {"tf_adjustment_column": "surname", "tf_adjustment_weight": 1.0}
    return found
