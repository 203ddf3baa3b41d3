#!/usr/bin/env python
"""Entry point of every command; see `manage.py help`."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ocrsite.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        # The message names the setting and what it may be; a stack trace would bury it.
        sys.exit(f"A setting is wrong: {error}")
