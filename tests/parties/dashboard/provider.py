"""A provider of accounts (OpenID Connect) on this machine, which does what a test tells it."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, KeySet

CLIENT = "duetto-north"
SECRET = "what only both know"


class Provider:
    """Signs in whoever comes as `account`; `changed` changes what it says."""

    def __init__(self):
        self.account = "weber@hospital.example"
        self.changed = {}
        self.metadata = {}
        self.key = ECKey.generate_key("P-256", {"kid": "one", "alg": "ES256", "use": "sig"})
        self.signing = self.key
        self.codes = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def authorize(self, url):
        """What a browser is sent back with after its user has signed in."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT
        assert asked["code_challenge_method"] == "S256"
        code = f"code {len(self.codes)}"
        self.codes[code] = asked
        back = {"code": code, "state": asked["state"]}
        return f"{asked['redirect_uri']}?{urlencode(back)}"

    def token(self, asked):
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "sub": "4711",
            "email": self.account,
            "nonce": asked["nonce"],
            "iat": now,
            "exp": now + 300,
        }
        claims |= self.changed
        kept = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode({"alg": "ES256", "kid": "one"}, kept, self.signing)

    def _handler(self):
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                match urlsplit(self.path).path:
                    case "/.well-known/openid-configuration":
                        known = {
                            "issuer": provider.issuer,
                            "authorization_endpoint": f"{provider.issuer}/authorize",
                            "token_endpoint": f"{provider.issuer}/token",
                            "jwks_uri": f"{provider.issuer}/keys",
                        }
                        self._answer(known | provider.metadata)
                    case "/keys":
                        self._answer(KeySet([provider.key]).as_dict(private=False))
                    case "/authorize":
                        self.send_response(302)
                        self.send_header("location", provider.authorize(self.path))
                        self.end_headers()
                    case _:
                        self._answer({}, 404)

            def do_POST(self):
                sent = self.rfile.read(int(self.headers["content-length"])).decode()
                fields = {name: values[0] for name, values in parse_qs(sent).items()}
                asked = provider.codes.pop(fields.get("code"), None)
                wanted = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
                proof = hashlib.sha256(fields.get("code_verifier", "").encode()).digest()
                if (
                    asked is None
                    or self.headers["authorization"] != f"Basic {wanted}"
                    or base64.urlsafe_b64encode(proof).decode().rstrip("=") != asked["code_challenge"]
                ):
                    self._answer({"error": "invalid_grant"}, 400)
                    return
                token = provider.token(asked)
                self._answer({"access_token": "x", "token_type": "Bearer", "id_token": token})

            def _answer(self, document, status=200):
                body = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        return Handler
