"""Keys for tests: the same in every run, published here, worthless for anything else."""

from __future__ import annotations

from functools import cache

from smc.ciphers.dgk_keys import DgkPrivateKey, generate_dgk, generate_toy_dgk
from smc.ciphers.keys import PrivateKey
from smc.forms import Role
from smc.numeric.random import Randomness

_PRIMES = {
    "TOY_A": (
        "d20659683499abcf7bb1b51b580573cdd772fd893a7e0ba27d6a149e33d7e0b3",
        "f61686146cc4732bcddbc5305a39afc9956857e971311a79abde99c168bd8b87",
    ),
    "TOY_B": (
        "cff310257cf5580a2974250ea0890849d6afe0e63d16e99c9b39e23200f3bc63",
        "d408ccb0652a6e531768cce16c8293487e38e59183c0289a3f81c4cc125840af",
    ),
    "PAPER_A": (
        "e167a3fc7475b48de2e9ccfb5e8f7dd67400840930d8582a0fbfb889ad24306edfaf778bea402f2d00bdc344"
        "c54e843c47f815107c63727bc2b5acf7103c1cdf",
        "fffc19a9f3df869e1b40481cfe1dd3fc87c3e36b353408b0190cd7c560ecfab76e199d8e5a7d57318517b9d5"
        "573b6cd4db1e625291bd2ac5e6f167cc8310d2bf",
    ),
    "PAPER_B": (
        "c28ff5851f480d69b656e6fb0d47e17a87759089248ba14e56f2d17344a7cc510f06330b07e895db09ec34e2"
        "17c65418cb84de0711c1781eed076f08540700bf",
        "fc1628f0397380667dc5dec410655d11f3c83d1151b432d067d59f8002bdafbaf336cf2fe8ba865b9b32dd0f"
        "cb14be46ab89f6d19f407656b8cb048fc95dda73",
    ),
    "REAL_A": (
        "de63b91cb46f538fb76364fd50f4dccb5c63dda16d548990868de6df5a14e7ff4457215472765b41451ef56f"
        "52c600467026c11eaad96d916a6aac821e23da76e58b92cae57d632211f7bdab54abec2ff3f149d5173a99a5"
        "b42ede2c1549c7a567f91dbf8bc2071ed061e2b56c3195edb9ca20dbec2864636708b06ddb28c63b",
        "e9556c689143f695bedd49f1cdb3c6fa89c6b6f51f57256159b581f7bd1dd3686bd6b32540c3795bcb3e2799"
        "eddce254091045ea73657f4cec360066a3fd17a51254c7f5198fe9a06e26a4c83d3fe1aa3ab9343da3162ec9"
        "3acea5d50c64101a6bea71b8e830cc818a4abcf938a488ab9b482e494cbe9917067c9f2eab3195b3",
    ),
    "REAL_B": (
        "cae3244ec2651480ac1269d74ae3f4cf80dec7220a28bc9afdd40fb55599190febb084003afb2e284f13aa0c"
        "c2565ac12b6e43fc0804a39b09230d598045d318d9c1a4149d9e0ed7ed6f247433908d8f14ab1974ab4757a3"
        "f4921877bbcc39b061b8c7dbc88a1ef31224484dfcc750bf24561bf96711a85460f12a54a84f5c4f",
        "cdb236a57cfefd81226ca01501381ad5962b6b5e0d15860f1d117eb521922cf3348c6263c3d4bac8dd82b40b"
        "a38e951712a59c4e1a8ee33d0b56104c39e4a3ce7686710f681ed4891f3532654053138c2517c6642aa044b7"
        "3c5f19ff9af18a928d0183df4d3658dbbe883f1e90f9d0d49e0dc527c5ea525658f3e68e79a645df",
    ),
}


@cache
def _key(name: str) -> PrivateKey:
    p, q = _PRIMES[name]
    return PrivateKey(int(p, 16), int(q, 16))


def _of(size: str, role: Role) -> PrivateKey:
    return _key(f"{size}_{'A' if role is Role.ALICE else 'B'}")


def toy(role: Role) -> PrivateKey:
    """The 512-bit key of a role."""
    return _of("TOY", role)


def paper(role: Role) -> PrivateKey:
    """The 1024-bit key of a role."""
    return _of("PAPER", role)


def real(role: Role) -> PrivateKey:
    """The 2048-bit key of a role."""
    return _of("REAL", role)


@cache
def dgk(role: Role) -> DgkPrivateKey:
    """The DGK key of a role, of full size."""
    return generate_dgk(Randomness.from_seed(b"tests", f"dgk {role.value}"))


@cache
def toy_dgk() -> DgkPrivateKey:
    """A small DGK key, which protects nothing."""
    return generate_toy_dgk(Randomness.from_seed(b"tests", "toy dgk"))


def __getattr__(name: str) -> PrivateKey:
    """`TOY_A`, `TOY_B`, `PAPER_A`, `PAPER_B`, `REAL_A` and `REAL_B`, each made when first asked for."""
    if name not in _PRIMES:
        raise AttributeError(name)
    return _key(name)
