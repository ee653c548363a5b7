"""Secure two-party computation: forms, ciphers, protocols, a planner and analyses.

Pure in the sense of the house: no sockets, no files, no clocks and no environment variables, but
for the compiled kernels of `smc.oblivious.kernels`: a file that a variable can switch off.
A protocol run needs a `smc.protocols.session.Session` and its inputs; `smc.pair.run_pair` makes two.
"""
