"""Signing in, and how a person wants to see Stet: language and theme."""

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import check_for_language
from django.views.decorators.http import require_POST

from review.actions.tenancy import set_language

A_YEAR = 31_536_000
THEME_COOKIE = "stet_theme"
THEMES = ("auto", "light", "dark")


class SignIn(LoginView):
    """Sign in; django-axes counts the failures. The stored language comes back with the person."""

    template_name = "registration/sign_in.html"
    redirect_authenticated_user = True

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Start the session and set the language cookie."""
        response = super().form_valid(form)
        language = form.get_user().language
        if language and check_for_language(language):
            _remember(response, settings.LANGUAGE_COOKIE_NAME, language)
        return response


class SignOut(LogoutView):
    """End the session (POST)."""


@require_POST
def choose_language(request: HttpRequest) -> HttpResponse:
    """Show Stet in another language from now on, on this machine and wherever the person signs in."""
    response = _back(request)
    language = request.POST.get("language", "")
    if language in dict(settings.LANGUAGES):
        _remember(response, settings.LANGUAGE_COOKIE_NAME, language)
        if request.user.is_authenticated:
            set_language(user=request.user, language=language)
    return response


@require_POST
def choose_theme(request: HttpRequest) -> HttpResponse:
    """Show Stet light, dark, or as the system says, on this machine."""
    response = _back(request)
    theme = request.POST.get("theme", "")
    if theme in THEMES:
        _remember(response, THEME_COOKIE, theme)
    return response


def _remember(response: HttpResponse, cookie: str, value: str) -> None:
    response.set_cookie(cookie, value, max_age=A_YEAR, samesite="Lax", secure=settings.BEHIND_TLS)


def _back(request: HttpRequest) -> HttpResponseRedirect:
    """Return to the page that the form was on, never to another site."""
    address = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    return redirect(address if is_ours else settings.LOGIN_REDIRECT_URL)
