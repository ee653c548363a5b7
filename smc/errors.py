"""The exceptions of the house, one tree.

    DuettoError
      UsageError            a caller asked for something that does not exist or does not fit
        DomainError         a value lies outside the bound that was declared for it
          TooManyRowsError  more rows than a run of its kind takes
          OutsideRange      secret numbers lie outside a range that was stated for them: no fault of the peer
      KeyMaterialError      a key is malformed, too weak or missing
      FreshnessError        a ciphertext was about to leave that is not re-randomised, or left already
      DisclosureRefused     a result, or what it is made of, lies outside the limits of disclosure
      NoRouteError          the planner knows no allowed way for a type under the given conditions
      PeerError             the other side
        ProtocolViolation   sent something that the protocol does not allow
          InconsistentTransfers  its oblivious transfers fail a check that no honest program fails
        PeerAborted         ended the session and gave a code
        PeerLost            is gone, or silent past the deadline
      Cancelled             the session was ended from this side
      OutOfMemory           a run needs more memory than there is, or than the daemon grants

Every exception carries a stable `code`, the text of what happened, and a `hint`: what to do about it.
Messages name steps, fields, sizes and counts; never a value, a share, a key or a plaintext.
"""

from commons.errors import HintedError


class DuettoError(HintedError):
    """Root of all errors that users and peers can cause."""


class UsageError(DuettoError):
    """A caller asked for something that does not exist or does not fit; correct the call."""

    code = "usage"


class DomainError(UsageError):
    """A value lies outside its declared bound; widen the bound or correct the data."""

    code = "domain"


class TooManyRowsError(DomainError):
    """More rows than a run of this kind takes, whatever they hold; split the data into several jobs."""


class OutsideRange(DomainError):  # noqa: N818 - a state of the data
    """Numbers that nobody sees lie outside a range that the program states of them; there is no figure."""

    code = "outside-range"
    advice = (
        "State wider ranges, or use other data; the peer has done nothing wrong, and nothing else was opened."
    )


class KeyMaterialError(DuettoError):
    """A key is malformed, too weak or missing; make a new one with `duetto init`."""

    code = "key"


class FreshnessError(DuettoError):
    """A ciphertext that is not freshly re-randomised was about to leave: a defect of the program."""

    code = "freshness"
    advice = "Call refresh on the cipher, and send what it returns."


class DisclosureRefused(DuettoError):  # noqa: N818
    """A limit of disclosure stands against a result; nothing of it was opened."""

    code = "disclosure"


class NoRouteError(UsageError):
    """No allowed route leads to the asked type; choose another engine, modulus or bound."""

    code = "no-route"


class PeerError(DuettoError):
    """Something about the other side; this side keeps nothing of the session."""

    code = "peer"


class ProtocolViolation(PeerError):  # noqa: N818 - a noun of the field
    """The peer sent what the protocol does not allow; the session is over and not retried."""

    code = "protocol-violation"
    advice = (
        "Check that both institutions run the same release; if they do, do not run the job again before the "
        "other institution has looked into it."
    )


class InconsistentTransfers(ProtocolViolation):
    """The peer's oblivious transfers fail a check that no honest program fails; nothing was opened.

    It does not say which check: a peer that deviates learns by it that it was found out, and no more.
    """

    code = "inconsistent-transfers"
    advice = (
        "Run no job with the other institution before it has found out what its program does: an attempt "
        "that is repeated may succeed."
    )

    def __init__(
        self,
        what: str = "The peer's oblivious transfers are not consistent: its program breaks the protocol.",
        hint: str = "",
        *,
        code: str | None = None,
    ) -> None:
        super().__init__(what, hint, code=code)


class PeerAborted(PeerError):  # noqa: N818
    """The peer ended the session with a code; its own log has the reason."""

    code = "peer-aborted"
    advice = "Ask the other institution: the log of its daemon has the reason."


class PeerLost(PeerError):  # noqa: N818
    """The peer is gone or silent past the deadline; submit the job again when it is back."""

    code = "peer-lost"
    advice = "Submit the job again when the peer can be reached; `duetto doctor` checks that."


class Cancelled(DuettoError):  # noqa: N818
    """The session was ended from this side."""

    code = "cancelled"
    advice = "Submit the job again if it should run after all."


class OutOfMemory(DuettoError):  # noqa: N818
    """A run needs more memory than there is, or than is granted; nothing more of it was sent."""

    code = "memory"
    advice = (
        "Use fewer rows or columns, in several jobs, or a machine with more memory; `duetto job estimate` "
        "states the peak."
    )

    def __init__(
        self,
        what: str = "The memory of this machine did not suffice for the run.",
        hint: str = "",
        *,
        code: str | None = None,
    ) -> None:
        super().__init__(what, hint, code=code)
