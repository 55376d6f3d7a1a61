"""Somebody is to be told: from a request to deliveries, and from a delivery to what a channel has taken."""
