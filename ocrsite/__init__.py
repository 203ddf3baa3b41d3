"""Wiring only: environment, settings, logging, urls, asgi."""
