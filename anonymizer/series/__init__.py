"""Behaviour over time: logs of users and items, their matrices by windows, what is released and attacked."""
