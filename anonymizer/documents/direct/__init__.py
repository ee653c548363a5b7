"""Direct identifiers: rules and a trained recognizer that find them before any attack."""
