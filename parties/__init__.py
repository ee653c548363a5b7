"""The party daemon: network, files and people around `smc`."""
