"""Run inside a house: give the demo user the password that the first argument says."""

import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ocrsite.settings")
django.setup()

from review.models import User  # noqa: E402 - only after the set-up

if __name__ == "__main__":
    user = User.objects.get(username="demo")
    user.set_password(sys.argv[1])
    user.save()
