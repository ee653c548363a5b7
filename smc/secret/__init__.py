"""Computing on vectors that neither party sees: arithmetic, choice, joint noise, opening to recipients."""
