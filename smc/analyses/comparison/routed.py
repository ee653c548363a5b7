"""The route of a comparison job in a session: its plan, its pool and its keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gmpy2 import mpz

from smc.analyses.comparison.cost import plan_route
from smc.analyses.comparison.parameters import ComparisonParameters
from smc.analyses.comparison.prepared import use_prepared
from smc.ciphers.ciphertexts import Ciphertexts, valid
from smc.errors import DomainError, KeyMaterialError
from smc.forms import Role
from smc.moduli import parse_modulus
from smc.planning import run as planning
from smc.planning.agreement import compare_plans
from smc.protocols.full_session import FullSession
from smc.values import CipherVector, Encrypted, Value


@dataclass(frozen=True, slots=True)
class PreparedRoute:
    """A `smc.analyses.comparison.question.PreparedComparison`."""

    ready: planning.Prepared
    notes: tuple[str, ...]

    @property
    def details(self) -> Mapping[str, str]:
        """Route, engine, type and digest of the plan."""
        plan = self.ready.plan
        return {"route": plan.route, "engine": plan.engine, "type": str(plan.type), "plan": plan.digest}

    def run(self, x: Value, y: Value) -> Value:
        """As `smc.planning.run.run_plan`, at exactly the plan's cost."""
        return self.ready.run(x, y)


@dataclass(frozen=True, slots=True)
class SessionRouter:
    """A `smc.analyses.comparison.question.Router` of a job."""

    session: FullSession
    parameters: ComparisonParameters

    def prepare(self, count: int, moduli: Sequence[str]) -> PreparedRoute:
        """Plan, compare the plans, take a pool if the job asks for one, and set up."""
        session, parameters = self.session, self.parameters
        given = planning.session_parameters(session, count, parameters.bits)
        plan = plan_route(parameters, given, [parse_modulus(text) for text in moduli], session.network)
        compare_plans(plan, session)
        # Before the set-up, of which a pool saves the base transfers.
        notes = (use_prepared(session, plan, given),) if parameters.pool else ()
        return PreparedRoute(planning.set_up(plan, session), notes)

    def modulus(self, text: str) -> int:
        """A share modulus as a number."""
        modulus = parse_modulus(text)
        return modulus if isinstance(modulus, int) else _key_modulus(self.session, modulus)

    def read_ciphertexts(self, values: Sequence[int]) -> CipherVector:
        """Ciphertexts under the peer's key, read from a file and checked like those from a message."""
        key = self.session.peer.public
        ciphertexts = [mpz(value) for value in values]
        if not valid(key, ciphertexts):
            raise DomainError(
                "A ciphertext column holds something that is not a valid ciphertext under the peer's key.",
                "Check which key the column was encrypted under.",
            )
        return Ciphertexts(key, ciphertexts)

    def write_ciphertexts(self, ciphertexts: CipherVector) -> list[str]:
        """Ciphertexts as hexadecimal numbers, re-randomised (erratum 3)."""
        peer = self.session.peer
        return [
            f"{int(value):x}" for value in peer.refresh(peer.ciphertexts_of(Encrypted(ciphertexts))).values
        ]


def _key_modulus(session: FullSession, role: Role) -> int:
    key = session.peer_key
    if role is session.role:
        key = session.own_key.public if session.own_key is not None else None
    if key is None:
        raise KeyMaterialError(
            f"Shares modulo {role.value}'s key need that key.", "Give the session both keys."
        )
    return int(key.n)
