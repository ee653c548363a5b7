"""Comes in by an account of the institution's provider (OpenID Connect, authorization code with PKCE).

The provider says who somebody is; the configuration says which of its accounts may come in, and as whom. What
is known between leaving for the provider and coming back is kept here, under a secret that the browser holds
in a cookie, so that nobody can make another browser come back with an answer of theirs.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from parties.errors import ConfigError, PolicyError
from parties.oidc import Oidc
from parties.pki.files import read_private

if TYPE_CHECKING:
    from joserfc.jwk import KeySet

BACK: Final = "/signed-in"
"""Where the provider sends browsers back to."""

AWAY_SECONDS: Final = 600.0
MAX_AWAY: Final = 64
MAX_CALLS: Final = 8
"""Sign-ins at once: a provider that answers without end holds up so many pages, and no more."""

ALGORITHMS: Final = ("RS256", "PS256", "ES256", "EdDSA")
"""Of signatures under tokens."""

_BYTES: Final = 32
_MAX_ANSWER: Final = 1 << 20
_CALL_SECONDS: Final = 10.0
_LEEWAY: Final = 60
_NEEDED: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")


@dataclass(frozen=True, slots=True)
class _Away:
    """Somebody who has left for the provider."""

    state: str = field(repr=False)
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)
    since: float


class SignIn:
    """Sign-ins by one provider. Thread-safe; nothing of it is kept on disk.

    Args:
        settings: the provider, and whom it lets in.
        address: of the dashboard, such as `http://HOST:PORT`.
        clock: seconds that only go up.

    Raises:
        ConfigError: authlib is not installed.
    """

    def __init__(self, settings: Oidc, address: str, clock: Callable[[], float] = time.monotonic) -> None:
        _libraries()
        self._settings = settings
        self._back = address + BACK
        self._clock = clock
        self._lock = threading.Lock()
        self._away: dict[str, _Away] = {}
        self._calls = threading.BoundedSemaphore(MAX_CALLS)

    def leave(self) -> tuple[str, str]:
        """Send somebody to the provider.

        Returns:
            The address there, and the secret for a cookie of the browser.

        Raises:
            ConfigError: the provider does not answer as one.
            PolicyError: `MAX_CALLS` others wait for it.
        """
        with self._call():
            return self._leave()

    def _leave(self) -> tuple[str, str]:
        state, nonce, verifier = (secrets.token_urlsafe(_BYTES) for _ in range(3))
        away = _Away(state, nonce, verifier, self._clock())
        cookie = secrets.token_urlsafe(_BYTES)
        url, _ = self._client().create_authorization_url(
            self._provider()["authorization_endpoint"],
            state=away.state,
            nonce=away.nonce,
            code_verifier=away.verifier,
        )
        with self._lock:
            self._away = {**dict([*self._alive().items()][-(MAX_AWAY - 1) :]), cookie: away}
        return url, cookie

    def arrive(self, cookie: str, answer: Mapping[str, str]) -> str:
        """The word for the person who has come back from the provider.

        Args:
            cookie: what the browser holds.
            answer: what the provider has made the browser bring.

        Raises:
            PolicyError: it is not the answer to a question of this browser, the account may not come in, or
                `MAX_CALLS` others wait for the provider.
            ConfigError: the provider does not answer as one.
        """
        with self._call():
            return self._arrive(cookie, answer)

    @contextmanager
    def _call(self) -> Iterator[None]:
        if not self._calls.acquire(blocking=False):
            raise PolicyError(
                f"{MAX_CALLS} sign-ins wait for the provider.",
                "Try again later, or come in by a link of `duetto dashboard`.",
                code="sign-in",
            )
        try:
            yield
        finally:
            self._calls.release()

    def _arrive(self, cookie: str, answer: Mapping[str, str]) -> str:
        from joserfc import jwt
        from joserfc.errors import JoseError

        with self._lock:
            away = self._alive().get(cookie)
            self._away.pop(cookie, None)
        if away is None or not secrets.compare_digest(away.state.encode(), answer.get("state", "").encode()):
            raise PolicyError("This sign-in did not begin here, or is too old.", _AGAIN, code="sign-in")
        if answer.get("iss", self._settings.issuer) != self._settings.issuer or "code" not in answer:
            raise PolicyError("The provider did not sign anybody in.", _AGAIN, code="sign-in")
        provider = self._provider()
        token = self._exchange(provider["token_endpoint"], answer["code"], away.verifier)
        rules = jwt.JWTClaimsRegistry(
            leeway=_LEEWAY,
            iss={"essential": True, "value": self._settings.issuer},
            aud={"essential": True, "value": self._settings.client},
            exp={"essential": True},
            iat={"essential": True},
            nonce={"essential": True, "value": away.nonce},
        )
        try:
            found = jwt.decode(token, self._keys(provider["jwks_uri"]), algorithms=ALGORITHMS)
            rules.validate(found.claims)
            _check_party(found.claims, self._settings.client)
        except (JoseError, ValueError) as problem:
            raise PolicyError(
                f"The provider's token does not hold ({type(problem).__name__}).",
                "Compare client_id and issuer below [dashboard.oidc], and the clocks.",
                code="sign-in",
            ) from None
        return self._word(found.claims)

    def _word(self, claims: Mapping[str, Any]) -> str:
        account = claims.get(self._settings.claim)
        word = self._settings.accounts.get(account) if isinstance(account, str) else None
        if word is None:
            raise PolicyError(
                "This account may not come in here.",
                "Let an operator add it to accounts below [dashboard.oidc], by the value of its claim "
                f"{self._settings.claim!r}.",
                code="sign-in",
            )
        return word

    def _client(self) -> Any:
        session, _ = _libraries()
        path = self._settings.secret_file
        secret = read_private(path).decode().strip() if path is not None else None
        return session(
            self._settings.client,
            secret,
            scope="openid",
            redirect_uri=self._back,
            code_challenge_method="S256",
            token_endpoint_auth_method="client_secret_basic" if secret else "none",
            default_timeout=_CALL_SECONDS,
        )

    def _exchange(self, url: str, code: str, verifier: str) -> str:
        _, failures = _libraries()
        with self._client() as client:
            client.max_redirects = 0
            try:
                found = client.fetch_token(url, code=code, code_verifier=verifier)
            except failures as problem:
                raise PolicyError(
                    f"The provider did not give a token ({type(problem).__name__}).", _AGAIN, code="sign-in"
                ) from None
        token = found.get("id_token")
        if not isinstance(token, str) or len(token) > _MAX_ANSWER:
            raise PolicyError("The provider gave no token of who it is.", _AGAIN, code="sign-in")
        return token

    def _provider(self) -> dict[str, Any]:
        """Where the provider answers, as it says itself."""
        issuer = self._settings.issuer
        found = self._read(issuer.rstrip("/") + "/.well-known/openid-configuration")
        if found.get("issuer") != issuer or not all(isinstance(found.get(name), str) for name in _NEEDED):
            raise _no_provider(issuer, "describes another provider")
        try:
            schemes = {urlsplit(found[name]).scheme for name in _NEEDED}
        except ValueError:
            raise _no_provider(issuer, "names addresses that are none") from None
        if schemes != {urlsplit(issuer).scheme}:
            raise _no_provider(issuer, "names addresses without https")
        return found

    def _keys(self, url: str) -> KeySet:
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        try:
            return KeySet.import_key_set(self._read(url))  # type: ignore[arg-type]
        except (JoseError, ValueError, TypeError, KeyError):
            raise _no_provider(url, "has no keys") from None

    def _read(self, url: str) -> dict[str, Any]:
        import requests

        try:
            with requests.get(url, timeout=_CALL_SECONDS, allow_redirects=False, stream=True) as answer:
                body = answer.raw.read(_MAX_ANSWER + 1, decode_content=True)
                found = json.loads(body) if answer.status_code == 200 else None
        except (requests.RequestException, ValueError, OSError, RecursionError) as problem:
            raise _no_provider(url, f"does not answer ({type(problem).__name__})") from None
        if not isinstance(found, dict) or len(body) > _MAX_ANSWER:
            raise _no_provider(url, "answers with something else")
        return found

    def _alive(self) -> dict[str, _Away]:
        now = self._clock()
        return {key: away for key, away in self._away.items() if now - away.since <= AWAY_SECONDS}


_AGAIN: Final = "Begin again at /sign-in."


def _check_party(claims: Mapping[str, Any], client: str) -> None:
    """Check that a token for several clients was given to this one (OpenID Connect Core, 3.1.3.7)."""
    others = claims.get("aud")
    if isinstance(others, list) and len(others) > 1 and claims.get("azp") != client:
        raise ValueError("for another client")


def _no_provider(url: str, what: str) -> ConfigError:
    return ConfigError(f"{url} {what}.", "Correct issuer below [dashboard.oidc], or ask who runs it.")


def _libraries() -> tuple[Any, tuple[type[Exception], ...]]:
    """The client's class and the errors of a call."""
    try:
        import requests
        from authlib.common.errors import AuthlibBaseError
        from authlib.integrations.requests_client import OAuth2Session
    except ImportError:
        raise ConfigError(
            "[dashboard.oidc] needs authlib and requests, which are not installed.",
            "Run pip install 'duetto[oidc]'.",
        ) from None
    return OAuth2Session, (AuthlibBaseError, requests.RequestException, ValueError)
