"""The dashboard: pages for the people of one party, on this machine only, over the control socket."""
