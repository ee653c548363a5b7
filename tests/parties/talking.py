"""Servers on this machine that talk with each caller as a test says, also such as misbehave."""

from __future__ import annotations

import re
import socket
import threading
import time
from contextlib import contextmanager, suppress


@contextmanager
def listening(talk):
    """A server that talks with each caller by a function in a thread; its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            while True:
                try:
                    caller, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=meet, args=(caller,), daemon=True).start()

        def meet(caller):
            with caller, suppress(OSError):  # the caller may have gone
                talk(caller)

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)


def request(caller):
    """Head and body of a request."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += caller.recv(4096)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(re.search(rb"content-length: (\d+)", head.lower())[1])
    while len(body) < length:
        body += caller.recv(4096)
    return head.decode(), body


def answering(answer, seen=None):
    def talk(caller):
        got = request(caller)
        if seen is not None:
            seen.append(got)
        caller.sendall(answer)

    return talk


def endless(caller):
    request(caller)
    caller.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n")
    block = bytes(1 << 16)
    for _ in range(10_000_000_000 >> 16):
        caller.sendall(block)


def silent(caller):
    caller.recv(1 << 16)
    while caller.recv(1 << 16):
        pass


def dripping(caller):
    request(caller)
    while True:
        caller.sendall(b"H")
        time.sleep(0.05)


def swelling(caller):
    """Headers that do not end."""
    request(caller)
    caller.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        caller.sendall(b"X: " + b"y" * 60000 + b"\r\n")
