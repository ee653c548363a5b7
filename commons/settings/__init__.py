"""Settings in TOML: what may stand there is declared once, as dataclasses, and read strictly.

A field says by its annotation what may stand for its key, and by its default whether the key may be missing:

    @dataclass(frozen=True)
    class Limits:
        sessions: Annotated[int, Between(1, 64)] = 4

    limits = declared(Limits, StrictTable(document, "duetto.toml, limits", ConfigError))

`commons.settings.schema` makes a JSON Schema of the same declaration, for editors.

msgspec, cattrs, pydantic and dacite read such classes as well; their messages are about Python's types, where
a steward needs the place in the file and what to write there.
"""
