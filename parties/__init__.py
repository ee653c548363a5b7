"""The party daemon: network, files and people around `smc`.

Importing this package, before anything of gRPC, leaves gRPC no cipher suite of TLS 1.2 that fits the
certificates of the parties (they are ECDSA, the only suite allowed is for RSA). What remains is TLS 1.3,
whose suites this setting does not concern. The daemon tests that at its own port before it serves.
"""

import os
from typing import Final

_NO_SUITE_OF_TLS_1_2: Final = "ECDHE-RSA-AES256-GCM-SHA384"

os.environ["GRPC_SSL_CIPHER_SUITES"] = _NO_SUITE_OF_TLS_1_2
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
