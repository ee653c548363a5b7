"""Search engines behind one interface: an index over a folder, and servers over HTTP."""
