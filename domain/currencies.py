"""The currencies of ISO 4217 and how many decimals each has.

A code that was withdrawn stays here for ever, because amounts in it stay in the log. Codes without a
minor unit (gold, drawing rights, testing) name no money that anybody is asked to pay.
"""

from __future__ import annotations

from domain.text_values import did_you_mean, shown

_NO_DECIMALS = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"

_TWO_DECIMALS = """
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF
    CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL
    HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU
    MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR
    SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED
    VES WST XAD XCD XCG YER ZAR ZMW ZWG
"""

_THREE_DECIMALS = "BHD IQD JOD KWD LYD OMR TND"

_FOUR_DECIMALS = "CLF UYW"

_WITHDRAWN_SINCE_2020 = "ANG BGN CUC HRK SLL ZWL"

DECIMALS: dict[str, int] = (
    dict.fromkeys(_NO_DECIMALS.split(), 0)
    | dict.fromkeys(_TWO_DECIMALS.split(), 2)
    | dict.fromkeys(_THREE_DECIMALS.split(), 3)
    | dict.fromkeys(_FOUR_DECIMALS.split(), 4)
    | dict.fromkeys(_WITHDRAWN_SINCE_2020.split(), 2)
)
"""The number of decimals of each currency: its minor unit is that power of ten."""


def decimals_of(currency: str) -> int:
    """Return how many decimals a currency has; an unknown code is refused with the nearest known one."""
    decimals = DECIMALS.get(currency)
    if decimals is None:
        meant = did_you_mean(currency, DECIMALS)
        raise ValueError(f"{shown(currency)} is not a currency of ISO 4217, such as EUR or USD{meant}")
    return decimals
