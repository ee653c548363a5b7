"""The network of the daemon: gRPC over TLS 1.3 between two paired parties."""
