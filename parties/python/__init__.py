"""A party from Python: what its daemon answers, and what its home says without one."""

from parties.python.party import HomeParty as Party

__all__ = ["Party"]
