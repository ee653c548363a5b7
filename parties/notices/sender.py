"""The process that sends one mail or one webhook; see `parties.notices.sending`, which starts and ends it.

It reads the task from its standard input, and says on its standard output why it failed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import smtplib
import ssl
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from email.message import EmailMessage
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from parties.errors import NoticeError
from parties.notices.notice import Notice
from parties.notices.sending import read_login, read_secret
from parties.posting import bound_this_process, connection_words, post_body, status_words
from smc.errors import DuettoError

SIGNATURE: Final = "Duetto-Signature"
_REFUSED: Final = "Look at the log of that server, and correct the section of the hook."


def signature(secret: bytes, seconds: int, body: bytes) -> str:
    """The header by which a server knows that a notice is from here, and not an old one.

    Args:
        secret: known to both.
        seconds: the time, since 1970.
        body: as it is sent.

    Returns:
        `t=SECONDS,v1=HEX`, where HEX is the HMAC-SHA256 of `SECONDS.BODY`.
    """
    signed = hmac.new(secret, b"%d." % seconds + body, hashlib.sha256)
    return f"t={seconds},v1={signed.hexdigest()}"


def post(way: Mapping[str, Any], notice: Notice, seconds: float) -> None:
    """Send a webhook. Redirects are not followed, and of the answer only the status is read.

    Raises:
        NoticeError: the server did not take it.
    """
    secret, host = read_secret(Path(way["secret"])), urlsplit(way["url"]).hostname
    signed = signature(secret, int(time.time()), notice.body)
    headers = {"Content-Type": "application/json", SIGNATURE: signed}
    try:
        with post_body(way["url"], notice.body, headers, seconds) as answer:
            status = answer.status
    except HTTPException as problem:
        raise NoticeError(f"{host} does not speak HTTP ({type(problem).__name__}).", _REFUSED) from None
    if not 200 <= status < 300:
        raise NoticeError(f"{host} {status_words(status)}", _REFUSED)


def mail(way: Mapping[str, Any], notice: Notice, seconds: float) -> None:
    """Send a mail.

    Raises:
        NoticeError: the server has no TLS, or did not take it for every recipient.
    """
    message = EmailMessage()
    message["Subject"] = f"duetto {notice.party}: {notice.event.value.replace('-', ' ')}"
    message["From"], message["To"] = way["sender"], ", ".join(way["to"])
    message["Message-ID"] = f"<{notice.id}@duetto.invalid>"
    message["Auto-Submitted"] = "auto-generated"
    lines = "\n".join(f"{name}: {value}" for name, value in notice.document.items() if value)
    message.set_content(f"{notice.sentence}\n\n{lines}\n")
    host, port, trusted = way["server"], way["port"], ssl.create_default_context()
    try:
        if way["tls"] == "tls":
            server: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=seconds, context=trusted)
        else:
            server = smtplib.SMTP(host, port, timeout=seconds)
        with closing(server):  # a mail that is taken is sent, whatever the server says to QUIT
            if way["tls"] == "starttls":
                server.starttls(context=trusted)
            if way["login"]:
                server.login(*read_login(Path(way["login"])))
            left = server.send_message(message, way["sender"], way["to"])
    except smtplib.SMTPNotSupportedError:
        raise NoticeError(
            f"{host} does not offer what is needed: STARTTLS, or a login.", 'Try tls = "tls" with port 465.'
        ) from None
    except smtplib.SMTPResponseException as problem:
        raise NoticeError(f"{host} refused the mail with code {problem.smtp_code}.", _REFUSED) from None
    except smtplib.SMTPRecipientsRefused:
        raise NoticeError(f"{host} takes no mail for these recipients.", _REFUSED) from None
    except smtplib.SMTPException as problem:
        raise NoticeError(f"{host} ended the talk ({type(problem).__name__}).", _REFUSED) from None
    if left:
        raise NoticeError(f"{host} did not take the mail for {len(left)} of the recipients.", _REFUSED)


def main() -> int:
    """Do the task on standard input; 0 if it is done."""
    task = json.load(sys.stdin.buffer)
    bound_this_process(task["seconds"])
    send = mail if "server" in task["way"] else post
    try:
        send(task["way"], Notice.parse(task["notice"]), task["seconds"])
    except DuettoError as error:
        sys.stdout.write(error.what)
    except OSError as problem:
        sys.stdout.write(connection_words(problem))
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
