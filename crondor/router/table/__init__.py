"""The routing table: routes, knobs, and how a configuration becomes them."""
