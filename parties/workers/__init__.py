"""Processes of a daemon or a command that do one kind of work apart from it, within bounds, and end with it.

    daemon or command                         worker
      what to do                 -->            does it, in its own memory and time
      answers, an error by name  <--
      lets go of the leash       ==>            is ended by the kernel, whatever it does

What is said are JSON and bytes (`parties.workers.pipe`, `parties.workers.values`); nothing that comes is run.
"""
