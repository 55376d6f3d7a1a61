"""Phone numbers as services dial them."""

from __future__ import annotations

from domain.errors import InvalidInput


def dialled(number: str, country: str = "") -> str:
    """Return a number in E.164; one without a country code is of the given country.

    Raises InvalidInput for what cannot be a number.
    """
    import phonenumbers

    try:
        parsed = phonenumbers.parse(number, country or None)
    except phonenumbers.NumberParseException:
        raise InvalidInput("is no phone number") from None
    if not phonenumbers.is_possible_number(parsed) or parsed.extension:
        raise InvalidInput("is no phone number")
    return phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)
