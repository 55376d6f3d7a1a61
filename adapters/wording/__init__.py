"""The wording that comes with Semel: notification types and templates of the ready rules, and of notices to staff.

Templates are files `<type>/<channel>.<locale>.liquid`, in English, Italian and Spanish.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from adapters.files.yaml_source import read_document
from automations.notifications.types import NotificationType

SUFFIX = ".liquid"
TYPES = "notifications.yaml"


@cache
def packaged_types() -> dict[str, NotificationType]:
    """Return the types that are there without being defined, by name."""
    document = read_document(_folder().joinpath(TYPES).read_text(encoding="utf-8"), TYPES)
    return {name: NotificationType.model_validate(settings) for name, settings in document.value.items()}


@cache
def packaged_templates() -> dict[str, str]:
    """Return the text of every template by `<type>/<channel>.<locale>`."""
    return {
        f"{kind.name}/{file.name.removesuffix(SUFFIX)}": file.read_text(encoding="utf-8")
        for kind in _folder().iterdir()
        if kind.is_dir()
        for file in kind.iterdir()
        if file.name.endswith(SUFFIX)
    }


def _folder() -> Traversable:
    return resources.files(__name__)
