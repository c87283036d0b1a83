"""Kinds of fabrics: each puts the closed forms together to one `Fabric`, and has one row in the registry."""
