"""The primitives, by subject. `all_rows` is the whole table; each op imports those that it is made of."""
