from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Greeting(_message.Message):
    __slots__ = ("oldest_version", "newest_version", "parameters", "party", "key", "unix_ms", "release", "renewal", "key_exchange")
    OLDEST_VERSION_FIELD_NUMBER: _ClassVar[int]
    NEWEST_VERSION_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    PARTY_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    UNIX_MS_FIELD_NUMBER: _ClassVar[int]
    RELEASE_FIELD_NUMBER: _ClassVar[int]
    RENEWAL_FIELD_NUMBER: _ClassVar[int]
    KEY_EXCHANGE_FIELD_NUMBER: _ClassVar[int]
    oldest_version: int
    newest_version: int
    parameters: bytes
    party: str
    key: bytes
    unix_ms: int
    release: str
    renewal: bytes
    key_exchange: str
    def __init__(self, oldest_version: _Optional[int] = ..., newest_version: _Optional[int] = ..., parameters: _Optional[bytes] = ..., party: _Optional[str] = ..., key: _Optional[bytes] = ..., unix_ms: _Optional[int] = ..., release: _Optional[str] = ..., renewal: _Optional[bytes] = ..., key_exchange: _Optional[str] = ...) -> None: ...

class JobMessage(_message.Message):
    __slots__ = ("body",)
    BODY_FIELD_NUMBER: _ClassVar[int]
    body: bytes
    def __init__(self, body: _Optional[bytes] = ...) -> None: ...

class Packet(_message.Message):
    __slots__ = ("opening", "answer", "confirm", "frame", "refusal", "resume", "resumed", "receipt")
    OPENING_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    CONFIRM_FIELD_NUMBER: _ClassVar[int]
    FRAME_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    RESUMED_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    opening: Opening
    answer: Answer
    confirm: Confirm
    frame: Frame
    refusal: Refusal
    resume: Resume
    resumed: Resumed
    receipt: Receipt
    def __init__(self, opening: _Optional[_Union[Opening, _Mapping]] = ..., answer: _Optional[_Union[Answer, _Mapping]] = ..., confirm: _Optional[_Union[Confirm, _Mapping]] = ..., frame: _Optional[_Union[Frame, _Mapping]] = ..., refusal: _Optional[_Union[Refusal, _Mapping]] = ..., resume: _Optional[_Union[Resume, _Mapping]] = ..., resumed: _Optional[_Union[Resumed, _Mapping]] = ..., receipt: _Optional[_Union[Receipt, _Mapping]] = ...) -> None: ...

class Resume(_message.Message):
    __slots__ = ("session_id", "token", "epoch", "received")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_FIELD_NUMBER: _ClassVar[int]
    session_id: bytes
    token: bytes
    epoch: int
    received: int
    def __init__(self, session_id: _Optional[bytes] = ..., token: _Optional[bytes] = ..., epoch: _Optional[int] = ..., received: _Optional[int] = ...) -> None: ...

class Resumed(_message.Message):
    __slots__ = ("received",)
    RECEIVED_FIELD_NUMBER: _ClassVar[int]
    received: int
    def __init__(self, received: _Optional[int] = ...) -> None: ...

class Receipt(_message.Message):
    __slots__ = ("received",)
    RECEIVED_FIELD_NUMBER: _ClassVar[int]
    received: int
    def __init__(self, received: _Optional[int] = ...) -> None: ...

class Opening(_message.Message):
    __slots__ = ("oldest_version", "newest_version", "parameters", "nonce", "job_id", "job_digest", "role", "dialler_key", "listener_key", "ledgers", "commitment")
    OLDEST_VERSION_FIELD_NUMBER: _ClassVar[int]
    NEWEST_VERSION_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_DIGEST_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    DIALLER_KEY_FIELD_NUMBER: _ClassVar[int]
    LISTENER_KEY_FIELD_NUMBER: _ClassVar[int]
    LEDGERS_FIELD_NUMBER: _ClassVar[int]
    COMMITMENT_FIELD_NUMBER: _ClassVar[int]
    oldest_version: int
    newest_version: int
    parameters: bytes
    nonce: bytes
    job_id: str
    job_digest: bytes
    role: str
    dialler_key: bytes
    listener_key: bytes
    ledgers: Ledgers
    commitment: bytes
    def __init__(self, oldest_version: _Optional[int] = ..., newest_version: _Optional[int] = ..., parameters: _Optional[bytes] = ..., nonce: _Optional[bytes] = ..., job_id: _Optional[str] = ..., job_digest: _Optional[bytes] = ..., role: _Optional[str] = ..., dialler_key: _Optional[bytes] = ..., listener_key: _Optional[bytes] = ..., ledgers: _Optional[_Union[Ledgers, _Mapping]] = ..., commitment: _Optional[bytes] = ...) -> None: ...

class Ledgers(_message.Message):
    __slots__ = ("own", "seen", "signature")
    OWN_FIELD_NUMBER: _ClassVar[int]
    SEEN_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    own: bytes
    seen: bytes
    signature: bytes
    def __init__(self, own: _Optional[bytes] = ..., seen: _Optional[bytes] = ..., signature: _Optional[bytes] = ...) -> None: ...

class Answer(_message.Message):
    __slots__ = ("version", "nonce", "session_id", "ledgers", "commitment", "public")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    LEDGERS_FIELD_NUMBER: _ClassVar[int]
    COMMITMENT_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_FIELD_NUMBER: _ClassVar[int]
    version: int
    nonce: bytes
    session_id: bytes
    ledgers: Ledgers
    commitment: bytes
    public: bytes
    def __init__(self, version: _Optional[int] = ..., nonce: _Optional[bytes] = ..., session_id: _Optional[bytes] = ..., ledgers: _Optional[_Union[Ledgers, _Mapping]] = ..., commitment: _Optional[bytes] = ..., public: _Optional[bytes] = ...) -> None: ...

class Confirm(_message.Message):
    __slots__ = ("session_id", "ledgers", "public")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    LEDGERS_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_FIELD_NUMBER: _ClassVar[int]
    session_id: bytes
    ledgers: Ledgers
    public: bytes
    def __init__(self, session_id: _Optional[bytes] = ..., ledgers: _Optional[_Union[Ledgers, _Mapping]] = ..., public: _Optional[bytes] = ...) -> None: ...

class Refusal(_message.Message):
    __slots__ = ("code",)
    CODE_FIELD_NUMBER: _ClassVar[int]
    code: str
    def __init__(self, code: _Optional[str] = ...) -> None: ...

class Frame(_message.Message):
    __slots__ = ("sequence", "kind", "depth", "total", "data", "lane")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    LANE_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    kind: str
    depth: int
    total: int
    data: bytes
    lane: int
    def __init__(self, sequence: _Optional[int] = ..., kind: _Optional[str] = ..., depth: _Optional[int] = ..., total: _Optional[int] = ..., data: _Optional[bytes] = ..., lane: _Optional[int] = ...) -> None: ...

class Blob(_message.Message):
    __slots__ = ("sequence", "want", "data")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    WANT_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    want: int
    data: bytes
    def __init__(self, sequence: _Optional[int] = ..., want: _Optional[int] = ..., data: _Optional[bytes] = ...) -> None: ...
