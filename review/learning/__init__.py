"""What reviewers teach becomes a model: frozen bytes from frozen examples and a seed, the same from the same."""
