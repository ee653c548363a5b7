"""Coefficients of the waves that `smc.secret.reals.functions` follows its functions by.

A fit is a system of equations whose solution depends, in its last digits, on the processor: what parties send
would too, and an audit on another machine would find other messages. So these stand here, as `fit` found them
once: the constant, the cosines and the sines of 12 waves each, in units of `UNIT`.
"""

from __future__ import annotations

from typing import Final

UNIT: Final = 2.0**-36

SIGMOID: Final = (
    34359761437,
    -45001,
    41665,
    -36595,
    30455,
    -23882,
    17594,
    -12078,
    7646,
    -4390,
    2226,
    -947,
    307,
    41543548084,
    -680608299,
    9329726753,
    -408225375,
    2618211192,
    66345681,
    536253008,
    213829811,
    22041183,
    134368285,
    -20968488,
    39255999,
)
SLOPE: Final = (
    8996401985,
    -9309530037,
    15702131929,
    -8232813230,
    10742629689,
    -5749162850,
    5875079002,
    -2969853154,
    2475263333,
    -1052578789,
    730033997,
    -203724150,
    119143052,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
)
EXPONENTIAL: Final = (
    191840079598,
    161653893476,
    -241709512265,
    -197856336705,
    134342467176,
    86532260448,
    -67348768389,
    -16194414538,
    19671450306,
    4757497,
    -2494811969,
    206700797,
    68931892,
    331676582605,
    220059796057,
    -176754409193,
    -143325538011,
    99629587422,
    42719221126,
    -39649184300,
    -3906639193,
    7952010144,
    -475149876,
    -555038014,
    35780063,
)
