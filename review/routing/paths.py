"""Field paths as rules, targets and monitors name them."""


def column_path(field_path: str) -> str:
    """Return the path with each row number as `*`: the cells of a column count together, however long the table."""
    return "/".join("*" if token.isdecimal() else token for token in field_path.split("/"))
