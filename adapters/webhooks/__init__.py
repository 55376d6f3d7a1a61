"""Events go out to programs of others: what is sent, by whom, and what is told about it.

`events_out` runs beside the deliveries to people, with a short-lived `sending` for each webhook that has something
due; `calls` is the webhook as a channel, `pages` what people and programs are shown, `opening` how an application
comes by all of it.
"""
