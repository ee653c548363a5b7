"""Each way hands a notice over, and none of those who misbehave holds anything up."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import ssl
import sys
import time

import pytest

from parties.errors import ConfigError, NoticeError
from parties.hooks import CommandHook, EventKind, MailHook, WebhookHook
from parties.notices.notice import make_notice
from parties.notices.sender import signature
from parties.notices.sending import check_hook, send
from parties.pki import certificate
from tests.parties.talking import answering, dripping, endless, listening, request, silent, swelling

NOTICE = make_notice(EventKind.WAITING, "2026-11-28T12:00:00Z", "north", peer="south", job="j1")
SECRET = "0123456789abcdef0123456789abcdef"
FOREVER = 600


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "hook.secret"
    path.write_text(SECRET + "\n")
    path.chmod(0o600)
    return path


def hook(port, secret, **about):
    return WebhookHook(name="chat", url=f"http://127.0.0.1:{port}/in?room=7", secret=secret, **about)


def test_a_webhook_is_signed_with_its_time(secret):
    seen = []
    with listening(answering(b"HTTP/1.1 204 No Content\r\n\r\n", seen)) as port:
        send(hook(port, secret), NOTICE)
    (head, body) = seen[0]
    assert head.startswith("POST /in?room=7 HTTP/1.1")
    assert json.loads(body) == NOTICE.document
    moment, given = re.search(r"Duetto-Signature: t=(\d+),v1=([0-9a-f]{64})", head).groups()
    assert given == hmac.new(SECRET.encode(), f"{moment}.".encode() + body, hashlib.sha256).hexdigest()
    assert abs(int(moment) - time.time()) < FOREVER
    assert SECRET not in head


def test_the_signature_depends_on_time_secret_and_body():
    made = {signature(s, t, b) for s in (b"a" * 16, b"b" * 16) for t in (1, 2) for b in (b"x", b"y")}
    assert len(made) == 8


def test_redirects_are_not_followed(secret):
    inner = []
    with listening(answering(b"HTTP/1.1 200 OK\r\n\r\n", inner)) as local:
        answer = f"HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:{local}/\r\nContent-Length: 0\r\n\r\n"
        with (
            listening(answering(answer.encode())) as port,
            pytest.raises(NoticeError, match="307; redirects"),
        ):
            send(hook(port, secret), NOTICE)
    assert not inner


def test_of_an_answer_without_end_nothing_is_read(secret):
    with listening(endless) as port:
        send(hook(port, secret), NOTICE)


@pytest.mark.parametrize("talk", [silent, dripping])
def test_a_server_that_hangs_or_drips_is_left_in_time(secret, talk):
    with (
        listening(talk) as port,
        pytest.raises(NoticeError, match=r"longer than 1 sec|No connection: timed out"),
    ):
        send(hook(port, secret, seconds=1), NOTICE)


@pytest.mark.parametrize("talk", [swelling, request, lambda caller: caller.sendall(b"\0")])
def test_a_server_that_speaks_something_else_is_an_error(secret, talk):
    with listening(talk) as port, pytest.raises(NoticeError):
        send(hook(port, secret, seconds=20), NOTICE)


def test_a_server_that_is_not_there_is_an_error(secret):
    with listening(silent) as port:
        pass
    with pytest.raises(NoticeError, match="No connection"):
        send(hook(port, secret), NOTICE)


def test_tls_is_checked(secret, tmp_path):
    pem, key = certificate.make("north")
    both = tmp_path / "server.pem"
    both.write_bytes(key + pem)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(both)

    def talk(caller):
        with context.wrap_socket(caller, server_side=True) as secure:
            answering(b"HTTP/1.1 200 OK\r\n\r\n")(secure)

    with listening(talk) as port, pytest.raises(NoticeError, match="TLS fails"):
        send(WebhookHook(name="chat", url=f"https://localhost:{port}/", secret=secret), NOTICE)


def test_secrets_are_private_and_long(tmp_path, secret):
    secret.chmod(0o640)
    with pytest.raises(ConfigError, match="open to other users"):
        check_hook(hook(1, secret))
    secret.chmod(0o600)
    secret.write_text("short")
    with pytest.raises(ConfigError, match="shorter than 16"):
        check_hook(hook(1, secret))


# Mail


def mail_server(seen, *, tls=b"", drop_at=b"", login=b""):
    """Talks SMTP; drops the connection at a command."""

    def talk(caller):
        lines = caller.makefile("rb")
        caller.sendall(b"220 here\r\n")
        while line := lines.readline():
            word = line.strip().split(b" ")[0].upper()
            if drop_at and word == drop_at:
                return
            seen.append(line.strip())
            if word == b"EHLO":
                caller.sendall(b"250-here\r\n" + tls + login + b"250 OK\r\n")
            elif word == b"DATA":
                caller.sendall(b"354 go\r\n")
                while (line := lines.readline()) != b".\r\n":
                    seen.append(line.rstrip())
                caller.sendall(b"250 taken\r\n")
            elif word == b"AUTH":
                caller.sendall(b"235 known\r\n")
            elif word == b"QUIT":
                caller.sendall(b"500 what?\r\n")
            else:
                caller.sendall(b"250 well\r\n")

    return talk


def mail_hook(port, **about):
    given = {"tls": "off", **about}
    return MailHook(
        name="mail",
        to=("a@here.example", "b@here.example"),
        sender="d@x.example",
        server="localhost",
        port=port,
        **given,
    )


def test_a_mail_has_the_notice_and_goes_to_all(tmp_path):
    login = tmp_path / "login"
    login.write_text("ann\npass word\n")
    login.chmod(0o600)
    seen = []
    with listening(mail_server(seen, login=b"250-AUTH PLAIN\r\n")) as port:
        send(mail_hook(port, login=login), NOTICE)
    text = b"\n".join(seen).decode()
    assert "rcpt TO:<a@here.example>" in text
    assert "rcpt TO:<b@here.example>" in text
    assert "Subject: duetto north: waiting" in text
    assert "Job j1 with south waits for your decision." in text
    assert base64.b64encode(b"\0ann\0pass word").decode() in text


@pytest.mark.parametrize("command", [b"EHLO", b"MAIL", b"RCPT", b"DATA"])
def test_a_mail_server_that_drops_is_an_error(command):
    with listening(mail_server([], drop_at=command)) as port, pytest.raises(NoticeError):
        send(mail_hook(port), NOTICE)


def test_nothing_is_mailed_without_tls_where_it_is_asked_for():
    seen = []
    with listening(mail_server(seen)) as port, pytest.raises(NoticeError, match="STARTTLS"):
        send(mail_hook(port, tls="starttls"), NOTICE)
    assert not any(line.upper().startswith((b"MAIL", b"DATA")) for line in seen)


def test_a_mail_server_without_end_is_left():
    def talk(caller):
        while True:
            caller.sendall(b"220-" + b"x" * 500 + b"\r\n")

    with listening(talk) as port, pytest.raises(NoticeError):
        send(mail_hook(port, seconds=2), NOTICE)


# Commands


def program(tmp_path, text):
    path = tmp_path / "program"
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o700)
    return path


def test_a_command_gets_the_notice_and_little_else(tmp_path, monkeypatch):
    monkeypatch.setenv("DUETTO_SECRET_OF_TEST", "x")
    path = program(
        tmp_path,
        "import os, sys, pathlib\n"
        "found = '|'.join((sys.stdin.read(), sys.argv[2], ' '.join(os.environ)))\n"
        "pathlib.Path(sys.argv[1]).write_text(found)\n",
    )
    send(CommandHook(name="p", command=(str(path), str(tmp_path / "out"), "$(id) ; *")), NOTICE)
    body, argument, names = (tmp_path / "out").read_text().split("|")
    assert json.loads(body) == NOTICE.document
    assert argument == "$(id) ; *"
    assert "DUETTO_SECRET_OF_TEST" not in names.split()


def test_a_command_that_fails_or_is_none_is_an_error(tmp_path):
    path = program(tmp_path, "raise SystemExit(3)")
    with pytest.raises(NoticeError, match="ended with status 3"):
        send(CommandHook(name="p", command=(str(path),)), NOTICE)
    path.write_text("no program")
    with pytest.raises(NoticeError, match="does not start"):
        send(CommandHook(name="p", command=(str(path),)), NOTICE)
    with pytest.raises(ConfigError, match="does not exist"):
        send(CommandHook(name="p", command=(str(tmp_path / "none"),)), NOTICE)


def test_a_command_that_never_reads_nor_ends_is_ended_with_what_it_forked(tmp_path):
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    path = program(
        tmp_path,
        f"import os, time\nheld = os.open('/proc/{os.getpid()}/fd/{writing}', os.O_WRONLY)\n"
        f"os.fork()\nos.write(held, b'x')\ntime.sleep({FOREVER})",
    )
    with pytest.raises(NoticeError, match="longer than 1 sec"):
        send(CommandHook(name="p", command=(str(path),), seconds=1), NOTICE)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert set(pipe.read()) <= {ord("x")}  # returns when all that held the other end have gone


def test_what_a_command_leaves_behind_is_ended(tmp_path):
    reading, writing = os.pipe()
    path = program(
        tmp_path,
        f"import os, time\nheld = os.open('/proc/{os.getpid()}/fd/{writing}', os.O_WRONLY)\n"
        f"if os.fork() == 0:\n    os.write(held, b'x')\n    time.sleep({FOREVER})",
    )
    send(CommandHook(name="p", command=(str(path),)), NOTICE)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read() in (b"", b"x")
