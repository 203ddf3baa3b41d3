"""All settings. Each one that a person may set is read from the environment and described in docs/operations.md."""

from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF
from django.utils.translation import gettext_lazy as _

from ocrsite.env import (
    BASE_DIR,
    env,
    env_bool,
    env_choice,
    env_database,
    env_folder,
    env_int,
    env_list,
    env_time_zone,
    env_url,
    secret_key,
)
from ocrsite.logs import configure_structlog, logging_config

DATA_DIR = env_folder("STET_DATA_DIR", default=BASE_DIR / "var")

DEBUG = env_bool("STET_DEBUG", default=False)
SECRET_KEY = secret_key(DATA_DIR)
ALLOWED_HOSTS = env_list("STET_ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env_list("STET_CSRF_TRUSTED_ORIGINS", default=[])
BEHIND_TLS = env_bool("STET_BEHIND_TLS", default=False)

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "axes",
    "channels",
    "csp",
    "django_filters",
    "django_q",
    "drf_spectacular",
    "rest_framework",
    "inference",
    "review",
]

MIDDLEWARE = [
    "ocrsite.middleware.request_id_middleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "ocrsite.urls"
ASGI_APPLICATION = "ocrsite.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "review.User"
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign_in"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "libraries": {"stet": "review.web.tags"},
        },
    },
]

# --- data -------------------------------------------------------------------------------------------------------

DATABASES = {"default": env_database("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'stet.sqlite3'}")}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = {
        # IMMEDIATE takes the write lock at the start: two writers queue up instead of failing half-way.
        "transaction_mode": "IMMEDIATE",
        "timeout": 30,
        # FULL, not NORMAL: a confirmed keystroke survives a power cut too.
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=30000;",
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True

MEDIA_ROOT = DATA_DIR / "media"
FILE_UPLOAD_TEMP_DIR = DATA_DIR / "incoming"
FILE_UPLOAD_TEMP_DIR.mkdir(parents=True, exist_ok=True)
STATIC_URL = "static/"
STATIC_ROOT = Path(env.str("STET_STATIC_ROOT", default=str(DATA_DIR / "static")))
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
# What `make assets` took out of the npm packages; absent where nobody opens a page (a worker's host, a plain check).
VENDOR_DIR = BASE_DIR / "build" / "vendor"
STATICFILES_DIRS: list[Path | tuple[str, Path]] = [BASE_DIR / "static"]
if VENDOR_DIR.is_dir():
    STATICFILES_DIRS.append(("vendor", VENDOR_DIR))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "ocrsite.storage.ModuleManifestStorage"},
}
# Originals are streamed to disk from the first byte; nothing large sits in memory.
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.TemporaryFileUploadHandler"]
DATA_UPLOAD_MAX_NUMBER_FILES = 200

REDIS_URL = env.str("REDIS_URL", default="")

# --- access -----------------------------------------------------------------------------------------------------

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
AXES_FAILURE_LIMIT = env_int("STET_SIGN_IN_ATTEMPTS", default=8, at_least=1)
AXES_COOLOFF_TIME = 0.25  # hours
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_TEMPLATE = "registration/locked_out.html"
AXES_VERBOSE = False

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = 31_536_000 if BEHIND_TLS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = BEHIND_TLS
SECURE_SSL_REDIRECT = BEHIND_TLS
if BEHIND_TLS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    },
}

# --- people -----------------------------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Chinese"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = USE_TZ = True
TIME_ZONE = env_time_zone("STET_TIME_ZONE", default="UTC")

# --- the API ----------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "review.api.authentication.BearerTokenAuthentication",
        "review.api.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_PAGINATION_CLASS": "review.api.pagination.NewestFirstPagination",
    "EXCEPTION_HANDLER": "review.api.problems.exception_handler",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
    "PAGE_SIZE": 50,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Stet",
    "DESCRIPTION": "Scanned documents in, records that people can trust out.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "SERVERS": [{"url": "/", "description": "This installation"}],
    "PATH_CONVERTER_OVERRIDES": {
        "id": {"type": "integer", "format": "int64", "minimum": 1, "maximum": 10**18 - 1},
        "number": {"type": "integer", "minimum": 1, "maximum": 10**9 - 1},
        "slug": {"type": "string", "pattern": "^[-a-zA-Z0-9_]+$"},
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "review.api.openapi.describe_problems",
    ],
    "ENUM_NAME_OVERRIDES": {
        "Band": "review.models.documents.BAND_CHOICES",
        "DocumentStatus": "review.models.DocumentStatus",
        "ModelKind": "review.models.ModelKind",
        "PolicyState": "review.models.PolicyState",
        "Role": "review.models.Role",
        "TaskKind": "review.models.TaskKind",
        "TaskState": "review.models.TaskState",
        "Verdict": "review.models.Verdict",
        "WorkState": "review.models.WorkState",
    },
}

# --- work -------------------------------------------------------------------------------------------------------

N_WORKERS = env_int("STET_WORKERS", default=2, at_least=1)
# How far bulk reading stands back from what somebody waits for: the web and the desk's own worker keep niceness 0.
STET_BULK_NICENESS = env_int("STET_BULK_NICENESS", default=10)
Q_CLUSTER = {
    "name": "stet",
    "orm": "default",
    "workers": N_WORKERS,
    # A page takes seconds; one that takes `timeout` hangs. `retry` must be the longer of the two, or a task that is
    # still at work is handed out again.
    "timeout": 120,
    "retry": 150,
    "max_attempts": 3,
    "ack_failures": True,
    "recycle": env_int("STET_TASKS_PER_WORKER", default=500, at_least=1),
    "queue_limit": N_WORKERS * 2,
    "poll": 0.2,
    "save_limit": 200,
    "catch_up": False,
    "label": _("Work"),
}

CHANNEL_LAYERS = (
    {"default": {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": {"hosts": [REDIS_URL]}}}
    if REDIS_URL
    else {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
)

# --- Stet -------------------------------------------------------------------------------------------------------

STET_ENGINE = env.str("STET_ENGINE", default="rapidocr")
# `inference` knows no settings and takes these four from the environment; here they are checked at the start, the
# addresses of single versions by review.E007.
STET_VLLM_URL = env_url("STET_VLLM_URL")
STET_VLLM_URLS = env.str("STET_VLLM_URLS", default="")
STET_VLLM_API_KEY = env.str("STET_VLLM_API_KEY", default="")
STET_MODEL_SECONDS = env_int("STET_MODEL_SECONDS", default=80, at_least=1)
STET_VLLM_VENV = env.str("STET_VLLM_VENV", default="")
STET_MAX_BYTES = env_int("STET_MAX_BYTES", default=50_000_000, at_least=1)
STET_MAX_PIXELS = env_int("STET_MAX_PIXELS", default=100_000_000, at_least=1)
STET_MAX_PAGES = env_int("STET_MAX_PAGES", default=200, at_least=1)
STET_PDF_SECONDS = env_int("STET_PDF_SECONDS", default=60, at_least=1)
STET_PDF_MEMORY_BYTES = env_int("STET_PDF_MEMORY_BYTES", default=1_500_000_000, at_least=200_000_000)
STET_LEASE_SECONDS = env_int("STET_LEASE_SECONDS", default=600, at_least=10)
STET_CLAIM_SECONDS = env_int("STET_CLAIM_SECONDS", default=130, at_least=1)
STET_MAX_ATTEMPTS = env_int("STET_MAX_ATTEMPTS", default=3, at_least=1)
STET_HEARTBEAT_SECONDS = env_int("STET_HEARTBEAT_SECONDS", default=5, at_least=1)
STET_DOWNLOAD_SECONDS = env_int("STET_DOWNLOAD_SECONDS", default=3600, at_least=1)
STET_EVENT_DAYS = env_int("STET_EVENT_DAYS", default=7, at_least=1)
STET_RAW_ANSWER_DAYS = env_int("STET_RAW_ANSWER_DAYS", default=90, at_least=1)
STET_TRAIN_EVERY = env_int("STET_TRAIN_EVERY", default=100)
STET_NEAR_DUPLICATE_PAGES = env_int("STET_NEAR_DUPLICATE_PAGES", default=500)

DATA_UPLOAD_MAX_MEMORY_SIZE = 5_000_000

configure_structlog()
LOGGING = logging_config(
    env_choice("STET_LOG_FORMAT", default="console", choices=("console", "json")),
    env_choice("STET_LOG_LEVEL", default="INFO", choices=("DEBUG", "INFO", "WARNING", "ERROR")),
)
