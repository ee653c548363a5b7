"""Pipelines: methods one after another, as a specification that can be reviewed and run again."""
