"""This institution's own Dask cluster as an executor of ciphertext work and of large searches.

What is sent to a cluster, and what comes back, is read by Dask with pickle: scheduler and workers may run
any code here, as this party may there. A cluster therefore has to belong to the institution as this machine
does; nothing that comes from a peer is ever read in this way.
"""
