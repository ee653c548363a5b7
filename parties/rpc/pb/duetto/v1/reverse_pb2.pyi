from parties.rpc.pb.duetto.v1 import peer_pb2 as _peer_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ReverseCall(_message.Message):
    __slots__ = ("number", "hello", "propose", "tell", "session")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    HELLO_FIELD_NUMBER: _ClassVar[int]
    PROPOSE_FIELD_NUMBER: _ClassVar[int]
    TELL_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    number: int
    hello: _peer_pb2.Greeting
    propose: _peer_pb2.JobMessage
    tell: _peer_pb2.JobMessage
    session: SessionWish
    def __init__(self, number: _Optional[int] = ..., hello: _Optional[_Union[_peer_pb2.Greeting, _Mapping]] = ..., propose: _Optional[_Union[_peer_pb2.JobMessage, _Mapping]] = ..., tell: _Optional[_Union[_peer_pb2.JobMessage, _Mapping]] = ..., session: _Optional[_Union[SessionWish, _Mapping]] = ...) -> None: ...

class SessionWish(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReverseAnswer(_message.Message):
    __slots__ = ("number", "greeting", "answer", "granted", "code")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    GREETING_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    GRANTED_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    number: int
    greeting: _peer_pb2.Greeting
    answer: _peer_pb2.JobMessage
    granted: SessionGranted
    code: str
    def __init__(self, number: _Optional[int] = ..., greeting: _Optional[_Union[_peer_pb2.Greeting, _Mapping]] = ..., answer: _Optional[_Union[_peer_pb2.JobMessage, _Mapping]] = ..., granted: _Optional[_Union[SessionGranted, _Mapping]] = ..., code: _Optional[str] = ...) -> None: ...

class SessionGranted(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
