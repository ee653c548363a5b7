"""PostgreSQL: sessions that cannot write, and cells as the server holds them, whatever its settings say."""

from __future__ import annotations

from typing import Any, Final

_SETTINGS: Final = "-c default_transaction_read_only=on -c extra_float_digits=3"
"""Also of later transactions, if the query ends the first; with fewer digits floats would come rounded."""
_KEEPALIVES: Final = (("keepalives_idle", 60), ("keepalives_interval", 15), ("keepalives_count", 4))
"""Two minutes after the last sign of life a host is gone that did not close the connection."""
_DAYS: Final = ("date", "timestamp", "timestamptz")


def connect(module: Any, url: str, seconds: int) -> Any:
    """A session whose transactions are all read-only, and which sends floats and texts unchanged.

    Days that Python has no values for, such as `infinity` or those before Christ, are cells that hold their
    texts.

    Args:
        module: psycopg.
        url: a connection string of libpq.
        seconds: to wait for the server.
    """
    given = module.conninfo.conninfo_to_dict(url)
    options = f"{given.get('options') or ''} {_SETTINGS}".strip()
    for name, usual in (("connect_timeout", seconds), *_KEEPALIVES):
        given.setdefault(name, usual)
    connection = module.connect(**{**given, "options": options, "client_encoding": "utf8"})
    connection.read_only = True
    for name in _DAYS:
        oid = module.adapters.types[name].oid
        usual = module.adapters.get_loader(oid, module.pq.Format.TEXT)
        connection.adapters.register_loader(oid, _or_text(module, usual))
    return connection


def class_of(connection: Any, problem: Exception) -> str:
    """The SQLSTATE of a failure, 08006 where the server went away without a word; else empty."""
    lost = "08006" if connection.broken else ""
    return getattr(problem, "sqlstate", None) or lost


def _or_text(module: Any, usual: Any) -> Any:
    """A loader that gives what the usual one gives, or the text of a cell that this cannot hold."""

    class OrText(module.adapt.Loader):  # type: ignore[misc]
        def __init__(self, oid: int, context: Any = None) -> None:
            super().__init__(oid, context)
            self._load = usual(oid, context).load

        def load(self, data: Any) -> Any:
            try:
                return self._load(data)
            except module.DataError:
                return bytes(data).decode()

    return OrText
