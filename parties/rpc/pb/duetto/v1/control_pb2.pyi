from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Act(_message.Message):
    __slots__ = ("person", "behalf", "moment", "key", "signature")
    PERSON_FIELD_NUMBER: _ClassVar[int]
    BEHALF_FIELD_NUMBER: _ClassVar[int]
    MOMENT_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    person: str
    behalf: str
    moment: str
    key: str
    signature: bytes
    def __init__(self, person: _Optional[str] = ..., behalf: _Optional[str] = ..., moment: _Optional[str] = ..., key: _Optional[str] = ..., signature: _Optional[bytes] = ...) -> None: ...

class JobText(_message.Message):
    __slots__ = ("toml", "act")
    TOML_FIELD_NUMBER: _ClassVar[int]
    ACT_FIELD_NUMBER: _ClassVar[int]
    toml: str
    act: Act
    def __init__(self, toml: _Optional[str] = ..., act: _Optional[_Union[Act, _Mapping]] = ...) -> None: ...

class EstimateRequest(_message.Message):
    __slots__ = ("toml", "rows", "rtt_ms", "mbit", "peer_rows")
    TOML_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    RTT_MS_FIELD_NUMBER: _ClassVar[int]
    MBIT_FIELD_NUMBER: _ClassVar[int]
    PEER_ROWS_FIELD_NUMBER: _ClassVar[int]
    toml: str
    rows: int
    rtt_ms: float
    mbit: float
    peer_rows: int
    def __init__(self, toml: _Optional[str] = ..., rows: _Optional[int] = ..., rtt_ms: _Optional[float] = ..., mbit: _Optional[float] = ..., peer_rows: _Optional[int] = ...) -> None: ...

class ListRequest(_message.Message):
    __slots__ = ("limit", "before", "states")
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    limit: int
    before: str
    states: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, limit: _Optional[int] = ..., before: _Optional[str] = ..., states: _Optional[_Iterable[str]] = ...) -> None: ...

class JobName(_message.Message):
    __slots__ = ("job_id", "act")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    ACT_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    act: Act
    def __init__(self, job_id: _Optional[str] = ..., act: _Optional[_Union[Act, _Mapping]] = ...) -> None: ...

class Decision(_message.Message):
    __slots__ = ("job_id", "reason", "actor", "uid", "shown", "act")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    UID_FIELD_NUMBER: _ClassVar[int]
    SHOWN_FIELD_NUMBER: _ClassVar[int]
    ACT_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    reason: str
    actor: str
    uid: int
    shown: str
    act: Act
    def __init__(self, job_id: _Optional[str] = ..., reason: _Optional[str] = ..., actor: _Optional[str] = ..., uid: _Optional[int] = ..., shown: _Optional[str] = ..., act: _Optional[_Union[Act, _Mapping]] = ...) -> None: ...

class Failure(_message.Message):
    __slots__ = ("code", "what", "hint")
    CODE_FIELD_NUMBER: _ClassVar[int]
    WHAT_FIELD_NUMBER: _ClassVar[int]
    HINT_FIELD_NUMBER: _ClassVar[int]
    code: str
    what: str
    hint: str
    def __init__(self, code: _Optional[str] = ..., what: _Optional[str] = ..., hint: _Optional[str] = ...) -> None: ...

class Job(_message.Message):
    __slots__ = ("job_id", "digest", "state", "analysis", "title", "role", "peer", "direction", "created", "updated", "stage", "done", "of", "error", "contract_json", "facts_json", "leakage_json", "waits_for", "format", "older_release", "result_deleted", "shown", "elapsed_seconds", "estimated_seconds", "audit_json")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ANALYSIS_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    PEER_FIELD_NUMBER: _ClassVar[int]
    DIRECTION_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    UPDATED_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    OF_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    CONTRACT_JSON_FIELD_NUMBER: _ClassVar[int]
    FACTS_JSON_FIELD_NUMBER: _ClassVar[int]
    LEAKAGE_JSON_FIELD_NUMBER: _ClassVar[int]
    WAITS_FOR_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    OLDER_RELEASE_FIELD_NUMBER: _ClassVar[int]
    RESULT_DELETED_FIELD_NUMBER: _ClassVar[int]
    SHOWN_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_SECONDS_FIELD_NUMBER: _ClassVar[int]
    ESTIMATED_SECONDS_FIELD_NUMBER: _ClassVar[int]
    AUDIT_JSON_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    digest: str
    state: str
    analysis: str
    title: str
    role: str
    peer: str
    direction: str
    created: str
    updated: str
    stage: str
    done: int
    of: int
    error: Failure
    contract_json: str
    facts_json: str
    leakage_json: str
    waits_for: str
    format: int
    older_release: bool
    result_deleted: str
    shown: str
    elapsed_seconds: float
    estimated_seconds: float
    audit_json: str
    def __init__(self, job_id: _Optional[str] = ..., digest: _Optional[str] = ..., state: _Optional[str] = ..., analysis: _Optional[str] = ..., title: _Optional[str] = ..., role: _Optional[str] = ..., peer: _Optional[str] = ..., direction: _Optional[str] = ..., created: _Optional[str] = ..., updated: _Optional[str] = ..., stage: _Optional[str] = ..., done: _Optional[int] = ..., of: _Optional[int] = ..., error: _Optional[_Union[Failure, _Mapping]] = ..., contract_json: _Optional[str] = ..., facts_json: _Optional[str] = ..., leakage_json: _Optional[str] = ..., waits_for: _Optional[str] = ..., format: _Optional[int] = ..., older_release: _Optional[bool] = ..., result_deleted: _Optional[str] = ..., shown: _Optional[str] = ..., elapsed_seconds: _Optional[float] = ..., estimated_seconds: _Optional[float] = ..., audit_json: _Optional[str] = ...) -> None: ...

class Piece(_message.Message):
    __slots__ = ("data",)
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    def __init__(self, data: _Optional[bytes] = ...) -> None: ...

class Report(_message.Message):
    __slots__ = ("json",)
    JSON_FIELD_NUMBER: _ClassVar[int]
    json: str
    def __init__(self, json: _Optional[str] = ...) -> None: ...

class PruneRequest(_message.Message):
    __slots__ = ("older_than_days", "act")
    OLDER_THAN_DAYS_FIELD_NUMBER: _ClassVar[int]
    ACT_FIELD_NUMBER: _ClassVar[int]
    older_than_days: int
    act: Act
    def __init__(self, older_than_days: _Optional[int] = ..., act: _Optional[_Union[Act, _Mapping]] = ...) -> None: ...

class PruneReply(_message.Message):
    __slots__ = ("deleted",)
    DELETED_FIELD_NUMBER: _ClassVar[int]
    deleted: int
    def __init__(self, deleted: _Optional[int] = ...) -> None: ...

class PeerDecision(_message.Message):
    __slots__ = ("peer", "actor", "uid", "act")
    PEER_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    UID_FIELD_NUMBER: _ClassVar[int]
    ACT_FIELD_NUMBER: _ClassVar[int]
    peer: str
    actor: str
    uid: int
    act: Act
    def __init__(self, peer: _Optional[str] = ..., actor: _Optional[str] = ..., uid: _Optional[int] = ..., act: _Optional[_Union[Act, _Mapping]] = ...) -> None: ...

class PeerReply(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ClosedPeer(_message.Message):
    __slots__ = ("peer", "job", "code", "since")
    PEER_FIELD_NUMBER: _ClassVar[int]
    JOB_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    peer: str
    job: str
    code: str
    since: str
    def __init__(self, peer: _Optional[str] = ..., job: _Optional[str] = ..., code: _Optional[str] = ..., since: _Optional[str] = ...) -> None: ...

class DrainRequest(_message.Message):
    __slots__ = ("seconds",)
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    seconds: float
    def __init__(self, seconds: _Optional[float] = ...) -> None: ...

class Draining(_message.Message):
    __slots__ = ("sessions", "seconds_left")
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    SECONDS_LEFT_FIELD_NUMBER: _ClassVar[int]
    sessions: int
    seconds_left: float
    def __init__(self, sessions: _Optional[int] = ..., seconds_left: _Optional[float] = ...) -> None: ...

class StatusRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReloadRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReloadReply(_message.Message):
    __slots__ = ("added", "removed", "changed", "later", "files")
    ADDED_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    LATER_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    added: _containers.RepeatedScalarFieldContainer[str]
    removed: _containers.RepeatedScalarFieldContainer[str]
    changed: _containers.RepeatedScalarFieldContainer[str]
    later: _containers.RepeatedScalarFieldContainer[str]
    files: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, added: _Optional[_Iterable[str]] = ..., removed: _Optional[_Iterable[str]] = ..., changed: _Optional[_Iterable[str]] = ..., later: _Optional[_Iterable[str]] = ..., files: _Optional[_Iterable[str]] = ...) -> None: ...

class StatusReply(_message.Message):
    __slots__ = ("party", "peers", "jobs", "ledger_whole", "ledger_problem", "listens", "database_lost", "persons", "closed", "reversed", "draining")
    class JobsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    PARTY_FIELD_NUMBER: _ClassVar[int]
    PEERS_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    LEDGER_WHOLE_FIELD_NUMBER: _ClassVar[int]
    LEDGER_PROBLEM_FIELD_NUMBER: _ClassVar[int]
    LISTENS_FIELD_NUMBER: _ClassVar[int]
    DATABASE_LOST_FIELD_NUMBER: _ClassVar[int]
    PERSONS_FIELD_NUMBER: _ClassVar[int]
    CLOSED_FIELD_NUMBER: _ClassVar[int]
    REVERSED_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    party: str
    peers: _containers.RepeatedScalarFieldContainer[str]
    jobs: _containers.ScalarMap[str, int]
    ledger_whole: bool
    ledger_problem: str
    listens: str
    database_lost: bool
    persons: str
    closed: _containers.RepeatedCompositeFieldContainer[ClosedPeer]
    reversed: _containers.RepeatedScalarFieldContainer[str]
    draining: Draining
    def __init__(self, party: _Optional[str] = ..., peers: _Optional[_Iterable[str]] = ..., jobs: _Optional[_Mapping[str, int]] = ..., ledger_whole: _Optional[bool] = ..., ledger_problem: _Optional[str] = ..., listens: _Optional[str] = ..., database_lost: _Optional[bool] = ..., persons: _Optional[str] = ..., closed: _Optional[_Iterable[_Union[ClosedPeer, _Mapping]]] = ..., reversed: _Optional[_Iterable[str]] = ..., draining: _Optional[_Union[Draining, _Mapping]] = ...) -> None: ...
