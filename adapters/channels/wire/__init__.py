"""How messages look on the wire, and the connections that carry them."""

from __future__ import annotations
