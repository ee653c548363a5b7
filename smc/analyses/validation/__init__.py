"""How well a model of one side predicts outcomes of the other."""
