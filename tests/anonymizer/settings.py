"""Parameters that let a method work on the small table of the conformance suite."""

from __future__ import annotations

from typing import Any

SETTINGS: dict[str, dict[str, Any]] = {
    "dp-noise": {"columns": ("age",)},
    "dp-um": {"k": 3, "columns": ("age",)},
    "exponential-mechanism": {"columns": ("city",)},
    "idp-cbls": {"k": 3, "minimum_change": 0.01, "columns": ("age",)},
    "idp-ls": {"k": 3, "columns": ("age",)},
    "incognito": {"k": 2},
    "k-member": {"k": 2},
    "local-recoding": {"k": 2},
    "local-suppression": {"k": 2},
    "mdav": {"k": 2},
    "mondrian": {"k": 2},
    "noise": {"epsilon": 1.0},
    "generalization": {"levels": {"age": 1, "city": 1}},
    "one-pass-clustering": {"k": 2},
    "splu-gen": {"gamma": 2},
    **{
        f"synth-{word}": {"columns": ("age", "city", "illness"), "rows": 30, "bins": 4, "epsilon": 50.0}
        for word in ("aim", "copula", "histogram", "independent", "mst", "privbayes")
    },
    "suppress-cells": {"minimum_rows": 2},
    "suppress-records": {"k": 2, "columns": ("city",)},
}
