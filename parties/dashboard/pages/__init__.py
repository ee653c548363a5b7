"""The pages, a module each: what is asked of the daemon, and the template that shows it."""
