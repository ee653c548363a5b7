"""Computing on vectors that neither party sees: joint noise and opening to recipients."""
