"""What a person is told when a file is refused: what is wrong with it, and what to do."""

from django.utils.translation import gettext as _

from inference.errors import UnreadableFileError
from inference.imaging.limits import Limits
from review.exceptions import RefusedFileError

_MEGABYTE = 1_000_000


def refusal(error: UnreadableFileError, limits: Limits) -> RefusedFileError:
    """Return the error to raise for a file that cannot become pages; its code is the reason's."""
    message = _unknown_type(error.detail) if error.code == "unknown_type" else _message(error.code, limits)
    return RefusedFileError(message, code=error.code)


def _message(code: str, limits: Limits) -> str:
    messages = {
        "empty_file": _("This file is empty. Check that the scan has finished, and send it again."),
        "too_many_bytes": _("This file is larger than %(limit)s MB. Scan it with fewer dots per inch, or split it.")
        % {"limit": f"{limits.max_bytes / _MEGABYTE:g}"},
        "too_many_pixels": _(
            "A page of this file has more than %(limit)s million pixels. Scan it with fewer dots per inch."
        )
        % {"limit": f"{limits.max_pixels / 1_000_000:g}"},
        "too_many_pages": _("This file has more than %(limit)s pages. Split it and send the parts.")
        % {"limit": limits.max_pages},
        "truncated": _("This file is cut short: its end is missing. Copy or scan it again, and send the whole file."),
        "damaged": _("This file is damaged and cannot be opened. Open and save it anew, or scan it again."),
        "encrypted": _("This PDF is protected by a password. Remove the password and send it again."),
        "no_pages": _("There is no page in this file. Check that it is the right one."),
        "time_limit": _("This PDF takes too long to open. Print it to a new PDF, or scan it, and send that."),
        "memory_limit": _("This file takes too much memory to open. Print it to a new PDF, or scan it, and send that."),
    }
    return messages[code]


def _unknown_type(hint: str) -> str:
    accepted = _("Accepted are JPEG, PNG, WebP, TIFF, HEIC and PDF.")
    seems = {
        "office": _("This is an office document, not a scan. Save it as PDF and send that."),
        "archive": _("This is an archive. Unpack it and send the files in it."),
        "html": _("This is a web page, not a scan. Print it to PDF and send that."),
        "text": _("This is a text file, not a scan; there is nothing to read off it."),
        "executable": _("This is a program, not a scan."),
        "video": _("This is a video, not a scan. Send a photo of each page."),
        "audio": _("This is a sound recording, not a scan."),
        "other_image": _("This kind of picture is not supported. Save it as JPEG or PNG and send that."),
    }
    return f"{seems.get(hint, _('This file is of no kind that can be read.'))} {accepted}"
