"""Strings from outside that want to do harm: as markup, as a template, to a terminal, or to a layout."""

NASTY = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "</mark></svg><iframe>",
    "{{ 7*7 }}",
    "$x^2$",
    "[bold red]",
    'it\'s & "so"',
    "🎬",
    "👩‍👩‍👧",
    "מצוין",
    "رائع",
    "x" * 90,
    "\x1b[31mred",
    "\u202eevil",
)
