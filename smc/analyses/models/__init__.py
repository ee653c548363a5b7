"""Regression models over the rows of both: linear, logistic, of counts and of survival times."""
