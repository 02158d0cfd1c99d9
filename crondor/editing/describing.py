"""What a name means, in Markdown: from the tables of crondor.knowledge."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.knowledge import (
    Attribute,
    ClassAdFunction,
    ConfigKnob,
    Releases,
    SubmitCommand,
    SubmitMacro,
    TransformCommand,
    classad_functions,
    job_attributes,
    machine_attributes,
)


def of_command(command: SubmitCommand) -> str:
    """Return what a submit command is: its type, what it does, its attribute, when and where it counts."""
    kind = ", ".join(command.choices) if command.choices else command.type.value
    facts = []
    if command.attribute:
        facts.append(f"job attribute `{command.attribute}`")
    facts += _releases(command.releases)
    if command.universes:
        facts.append(f"universes: {', '.join(command.universes)}")
    return _page(f"**{command.name}** ({kind})", command.sentence, "; ".join(facts))


def of_attribute(name: str) -> str | None:
    """Return what an attribute of a job's or a machine's ad is, None for one that nothing is known of."""
    found = [
        (where, attribute)
        for where, table in (("job", job_attributes()), ("machine", machine_attributes()))
        if (attribute := table.get(name)) is not None
    ]
    return "\n\n".join(_attribute(where, attribute) for where, attribute in found) or None


def of_function(name: str) -> str | None:
    """Return what a ClassAd function is, None for an unknown one."""
    found = classad_functions().get(name.lower())
    return None if found is None else _page(f"`{signature(found)}` → {found.type}", found.sentence)


def signature(function: ClassAdFunction) -> str:
    """Return a function as it is called."""
    return f"{function.name}({function.arguments})"


def of_provided(macro: SubmitMacro) -> str:
    """Return what a macro or a function of the submit language is that HTCondor provides."""
    shown = f"${macro.name.lstrip('$')}({macro.arguments})" if macro.arguments else f"$({macro.name})"
    return _page(f"`{shown}`", macro.sentence)


def of_rule(command: TransformCommand) -> str:
    """Return what a command of the transform language is."""
    return _page(f"`{command.name} {command.arguments}`", command.sentence)


def of_knob(knob: ConfigKnob) -> str:
    """Return what a knob of the configuration is: its type, what it does, who reads it, its default, its releases."""
    facts = [f"read by: {knob.whose}", f"default: `{knob.default}`" if knob.default else "no default"]
    return _page(f"**{knob.name}** ({knob.kind.value})", knob.sentence, "; ".join((*facts, *_releases(knob.releases))))


def _releases(releases: Releases) -> Iterator[str]:
    if releases.since is not None:
        yield f"since HTCondor {releases.since}"
    if releases.until is not None:
        yield f"until HTCondor {releases.until}"


def _attribute(where: str, attribute: Attribute) -> str:
    return _page(f"**{attribute.name}** ({where}, {attribute.type.value})", attribute.sentence)


def _page(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def code(text: str, most: int = 200) -> str:
    """Return a text of a user's as code in Markdown, on one line."""
    shown = " ".join(text.split()) if len(text) <= most else " ".join(text[:most].split()) + " ..."
    fence = "``" if "`" in shown else "`"
    blank = " " if "`" in shown else ""
    return f"{fence}{blank}{shown}{blank}{fence}" if shown else "(empty)"


def lines(texts: Iterator[str]) -> str:
    """Return a list in Markdown."""
    return "\n".join(f"- {text}" for text in texts)
