"""Short ways to make ads and to evaluate, for the tests of the ClassAd engine."""

from crondor.classad import AdValue, Context, Expression, Value, lower, print_value

NOW = Context(now=1_700_000_000)


def ad(**texts: str) -> AdValue:
    """Return an ad of expression texts."""
    return AdValue({lower(name): text for name, text in texts.items()}, {lower(name): name for name in texts})


def value(text: str, my: AdValue | None = None, target: AdValue | None = None, context: Context = NOW) -> Value:
    """Return the value of a text."""
    return Expression(text).evaluate(ad() if my is None else my, target, context)


def shown(text: str, my: AdValue | None = None, target: AdValue | None = None, context: Context = NOW) -> str:
    """Return the value of a text as text."""
    return print_value(value(text, my, target, context))
