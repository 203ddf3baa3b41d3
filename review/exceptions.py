"""What can go wrong for a caller. Each error has a stable `code` and a message that a person may see, translated.

The message names the thing and the remedy. `details` is plain data for programs, never document text of another
tenant, never a stack trace.
"""

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Message = str | Promise


class StetError(Exception):
    """Base of all errors that a caller may see."""

    code = "error"
    message: Message = _("Something went wrong. Try again; if it happens again, tell your administrator.")

    def __init__(
        self, message: Message | None = None, *, code: str | None = None, details: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(code or self.code)
        self.code = code or self.code
        self.message = message if message is not None else self.message
        self.details = dict(details or {})


class NotFoundError(StetError):
    """The thing does not exist, or belongs to somebody else: the two look alike."""

    code = "not_found"
    message = _("There is nothing here, or you may not see it.")


class ForbiddenError(StetError):
    """A member of the project, but not with a role that may do this."""

    code = "forbidden"
    message = _("Your role in this project does not allow this. Ask an administrator of the project.")


class InvalidInputError(StetError):
    """The input is wrong. `details["problems"]` lists {"pointer", "message"}."""

    code = "invalid_input"
    message = _("The input is not valid. See the problems listed and correct them.")

    @classmethod
    def at(cls, pointer: str, message: Message) -> "InvalidInputError":
        """Return an error with one problem at one JSON Pointer."""
        return cls(details={"problems": [{"pointer": pointer, "message": message}]})


class ConflictError(StetError):
    """Somebody else was faster. `details` holds what stands now, so that nothing typed is lost."""

    code = "conflict"
    message = _("This was changed in the meantime. Compare both values and save again.")


class LeaseLostError(ConflictError):
    """The lease is over or somebody else holds it; what was saved before is kept."""

    code = "lease_lost"
    message = _("You no longer hold this task. What you saved is kept; take the task again to go on.")


class RefusedFileError(StetError):
    """A file that cannot be accepted; `code` is one of `inference.errors.UnreadableFileError.REASONS`."""

    code = "refused_file"
    message = _("This file cannot be accepted.")


class StorageFullError(StetError):
    """The storage took no more bytes; nothing was accepted."""

    code = "storage_full"
    message = _("The storage is full. Nothing was accepted; free some space and send it again.")
