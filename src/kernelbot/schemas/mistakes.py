"""What is wrong with a value that somebody gave, in our words instead of pydantic's."""

from collections.abc import Mapping
from typing import Any

_NEEDED = {
    "missing": "is missing",
    "extra_forbidden": "isn't known here",
    "unexpected_keyword_argument": "isn't known here",
    "string_type": "must be text",
    "string_unicode": "must be text in UTF-8",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "is blank, or has characters that aren't allowed here",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "is too large a number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be a table of keys and values",
    "mapping_type": "must be a table of keys and values",
    "model_type": "must be a table of keys and values",
    "model_attributes_type": "must be a table of keys and values",
    "dataclass_type": "must be a table of keys and values",
    "too_short": "must have at least {min_length} items",
    "too_long": "must have at most {max_length} items",
    "datetime_parsing": "must be a date and time like 2027-01-31T12:00:00Z",
    "datetime_from_date_parsing": "must be a date and time like 2027-01-31T12:00:00Z",
    "timezone_aware": "must name its time zone, like 2027-01-31T12:00:00Z",
    "path_type": "must be a path",
    "url_parsing": "must be a URL",
    "json_invalid": "isn't JSON",
}
_RAISED = frozenset({"value_error", "assertion_error"})
_OURS = frozenset({"not_storable", "mistake"})
"""Errors that our own checks raise, with a sentence of their own."""


def what_is_wrong(mistake: Mapping[str, Any]) -> str:
    """One of `ValidationError.errors()` as the rest of a sentence about its value, without a full
    stop: "must be a whole number"."""
    kind = mistake["type"]
    if kind in _OURS:
        return str(mistake["msg"]).removesuffix(".")
    if kind in _RAISED:
        return str(mistake["ctx"]["error"]).removesuffix(".")
    if kind not in _NEEDED:
        return "can't be read"
    text = _NEEDED[kind].format(**mistake.get("ctx", {}))
    return text.replace(" 1 characters", " 1 character").replace(" 1 items", " 1 item")
