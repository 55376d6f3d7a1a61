"""What the answers of each protocol mean: pure tables from codes to endings, without any call."""

from __future__ import annotations
