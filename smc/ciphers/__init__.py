"""Homomorphic ciphers: keys, ciphertexts that know their key, and what may leave a party."""
