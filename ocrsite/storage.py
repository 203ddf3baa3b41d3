"""Static files with hashed names, ES modules' import statements rewritten too."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class ModuleManifestStorage(CompressedManifestStaticFilesStorage):
    """Manifest storage that follows `import` between modules."""

    support_js_module_import_aggregation = True
    manifest_strict = False
