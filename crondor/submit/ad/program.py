"""The program of a job: executable, arguments, environment, containers, and a tool (SubmitHash)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from crondor.classad import lower, print_string, to_bytes
from crondor.job.attributes import boolean_of, old_entries, string
from crondor.macro.evaluated import as_boolean
from crondor.schedule import Universe
from crondor.submit import facts
from crondor.submit.ad.draft import Draft, is_url, shown, without_quotes, words

_DOCKER: Final = ("docker_image", "dockerimage")
_CONTAINER: Final = ("container_image", "containerimage")
_SERVICES: Final = ("container_service_names", "containerservicenames")
PORT: Final = "_container_port"
_NO_CONTAINERS: Final = ("instance://", "library://", "shub://")
_FETCHED_BY_NAME: Final = ("docker", "oras")
_PORTS: Final = range(1 << 16)

CONTAINER_NAMES: Final = (*_DOCKER, *_CONTAINER, *_SERVICES)


# SubmitHash::SetExecutable, process_container_input_files and SetContainerSpecial; images are not opened.
def is_in_container(draft: Draft) -> bool:
    """Return whether the job has an image."""
    return draft.cluster.is_docker or draft.cluster.is_container


def look_for_images(draft: Draft) -> None:
    """Decide from the images named whether the jobs run in containers (SetUniverse)."""
    cluster = draft.cluster
    container, docker = draft.command(*_CONTAINER), draft.command(*_DOCKER)
    if cluster.is_docker:
        if container is not None:
            message = "docker universe does not allow use of container_image."
            draft.fault("submit-image", "container_image", message, "write docker_image")
    elif docker is not None and container is not None:
        message = "cannot declare both docker_image and container_image"
        draft.fault("submit-image", "docker_image", message, "remove one of them")
    elif docker is not None or container is not None:
        cluster.is_container = True
        if docker is not None:
            draft.set("WantDockerImage", value=True)


def set_images(draft: Draft) -> None:
    """Set DockerImage or ContainerImage, and its kind."""
    cluster = draft.cluster
    if not is_in_container(draft):
        return
    docker = draft.command(*_DOCKER)
    if docker is not None:
        image = without_quotes(docker)
        draft.set("DockerImage", image)
        if not image:
            where = "" if cluster.is_docker else " for container universe"
            draft.fault("submit-image", "docker_image", f"'{docker}' is not a valid docker_image{where}", "name it")
    elif cluster.is_docker and not draft.has("DockerImage"):
        draft.fault("submit-image", "universe", "docker jobs require a docker_image", "write docker_image = its name")
    if cluster.is_container:
        _set_container(draft)


def _set_container(draft: Draft) -> None:
    text = draft.command(*_CONTAINER)
    if text is None:
        if not draft.has("ContainerImage", "DockerImage"):
            message = "container jobs require a container_image or docker_image"
            draft.fault("submit-image", "universe", message, "write container_image = its file or address")
        return
    image = without_quotes(text)
    if not image or image.startswith(_NO_CONTAINERS):
        message = f"'{shown(image)}' is not a valid container image"
        draft.fault("submit-image", draft.written(*_CONTAINER), message, "name a file or docker://")
        return
    draft.set("ContainerImage", image)
    kinds = {"HasDockerURL": "WantDockerImage", "HasSIF": "WantSIF", "HasSandboxImage": "WantSandboxImage"}
    draft.set(kinds[image_clause(image)], value=True)


def image_clause(image: str) -> str:
    """Return the machine attribute that an image needs."""
    image = image.strip()
    if image.startswith("docker:"):
        return "HasDockerURL"
    return "HasSIF" if image.endswith(".sif") else "HasSandboxImage"


def travelling_image(draft: Draft) -> list[str] | None:
    """Set the source of the image in the ad, and return the files to transfer for it.

    None: it is not transferred, since its file is at the execution site, or the machine fetches it by name. A
    transferred image is known by the last part of its name, and is not among the job's own files if many jobs share it.
    """
    if not draft.cluster.is_container:
        return None
    image = draft.command(*_CONTAINER)
    shared = tuple(words(draft.knobs.get("CONTAINER_SHARED_FS") or "", ","))
    is_wanted = boolean_of(draft.value("TransferContainer")) is not False
    if not is_wanted or (image is not None and image.startswith(shared)):
        draft.set("ContainerImageSource", "local")
        return None
    if image is None:
        return None
    fetched = next((scheme for scheme in _FETCHED_BY_NAME if image.startswith(f"{scheme}://")), None)
    if fetched is not None:
        draft.set("ContainerImageSource", fetched)
        return None
    is_common = _is_common(draft, image)
    if is_common:
        _add_to_catalog(draft, image)
    short = image.removesuffix("/")
    draft.set("ContainerImage", short.rpartition("/")[2])
    draft.set("ContainerImageFullPath", image)
    scheme, colon, _ = short.partition(":")
    draft.set("ContainerImageSource", scheme if colon else "cedar")
    return [] if is_common else [image]


def _is_common(draft: Draft, image: str) -> bool:
    """Return whether the image is shared by the jobs of a cluster; the job's own setting wins."""
    given = boolean_of(draft.value("ContainerIsCommon"))
    if given is not None:
        return given
    pattern = draft.knobs.get("CONTAINER_REGEX_COMMON_BY_DEFAULT")
    if pattern is not None:
        whole = f"regexp({print_string(f'^(?:{pattern})$')}, {print_string(image)})"
        if draft.ad.evaluate(whole, None, draft.context) is True:
            return True
    return draft.knobs.flag("CONTAINER_IMAGES_COMMON_BY_DEFAULT", default=False)


def _add_to_catalog(draft: Draft, image: str) -> None:
    """Add the image to the catalog of common files, under a name made of its path."""
    key = image if is_url(image) else draft.path(image)
    name = f"container_{sha256(to_bytes(key)).hexdigest()[:8]}"
    draft.set(f"_x_catalog_{name}", image)
    catalogs = draft.text("CommonInputCatalogs") or ""
    if name not in catalogs:
        draft.set("CommonInputCatalogs", f"{catalogs}, {name}" if catalogs else name)


def set_services(draft: Draft) -> None:
    """Set ContainerServiceNames and the port of each service."""
    if not is_in_container(draft):
        return
    for service in words(draft.string("ContainerServiceNames", *_SERVICES) or ""):
        command = f"{service}{PORT}".lower()
        port = draft.integer(command, is_int=True)
        if port in _PORTS:
            draft.set(f"{service}_ContainerPort", port or 0)
        else:
            message = (
                f"Requested container service '{shown(service)}' was not assigned a port, or the assigned port was "
                "not valid."
            )
            draft.fault("submit-service", draft.written(command, *_SERVICES), message, f"write {command} = 8080")


_EXECUTABLE: Final = ("executable", "cmd")
_TRANSFER: Final = ("transfer_executable", "transferexecutable")
_NAMED_ONLY: Final = frozenset(("ec2", "gce", "azure"))
_NEVER: Final = "SUBMIT_CONTAINER_NEVER_XFER_ABSOLUTE_CMD"

EXECUTABLE_NAMES: Final = ("skip_filechecks", "submit_file", *facts.FOLDER_NAMES, *_EXECUTABLE, *_TRANSFER)


def check_filechecks(draft: Draft) -> None:
    """Refuse a word after skip_filechecks that HTCondor does not know."""
    text = draft.command("skip_filechecks")
    if text is not None and lower(text) != "warn" and as_boolean(text, draft.context) is None:
        message = f"SUBMIT_CMD_skip_filechecks={shown(text)} is invalid, must be 'warn' or a boolean"
        draft.fault("submit-value", "skip_filechecks", message, "write true, false or warn")


def set_folder(draft: Draft) -> None:
    """Set Iwd, if it is known, and JobSubmitFile."""
    draft.folder = facts.job_folder(draft.command, draft.host.folder)
    if draft.folder:
        draft.set("Iwd", draft.folder)
    file = draft.command("submit_file") if "submit_file" in draft.commands else draft.cluster.file
    if file:
        draft.set("JobSubmitFile", file)


def set_executable(draft: Draft) -> None:
    """Set Cmd, relative to the folder in which condor_submit is started, and the images of a job."""
    set_images(draft)
    if draft.command("shell") is not None:
        draft.set("Cmd", "/bin/sh")
        draft.set("TransferExecutable", value=False)
        return
    text = draft.command(*_EXECUTABLE)
    is_name = _is_name(draft)
    if text is None:
        if draft.has("Cmd"):
            return
        if not is_in_container(draft):
            message = "No 'executable' parameter was provided"
            draft.fault("submit-executable", "executable", message, "write executable = the program to run")
            return
        is_name = True
    transfer = draft.command(*_TRANSFER)
    if transfer is None:
        is_inside = is_in_container(draft) and (text or "").startswith("/") and draft.knobs.flag(_NEVER, default=False)
    else:
        is_inside = transfer[0] in "fF"
    stays = is_name or is_inside
    if stays:
        draft.set("TransferExecutable", value=False)
    path = text or ""
    draft.set("Cmd", path if stays else facts.full_path(path, draft.host.folder))


def _is_name(draft: Draft) -> bool:
    """Return whether the executable is only a name: of a virtual machine, or of an instance in a cloud."""
    universe = draft.cluster.universe
    is_cloud = universe == Universe.GRID and lower(draft.cluster.grid_type) in _NAMED_ONLY
    return universe == Universe.VM or is_cloud


ARGUMENT_NAMES: Final = (
    *("arguments", "args", "arguments2", "shell", "allow_arguments_v1"),
    *("java_vm_args", "java_vm_arguments", "javavmargs", "java_vm_arguments2"),
)

_BLANKS: Final = " \t\n\r"
_PLAIN: Final = re.compile(r"[^ \t\n\r']+")
_WORD: Final = re.compile(r"[^ \t\n\r]+")
_SPECIAL: Final = re.compile(r"[ \t\n\r']+")
_SPACE: Final = " \t\n\v\f\r"


# Arguments of the job, of Java's virtual machine, and of a tool that runs with the job.
class ArgumentList(NamedTuple):
    """The commands of a list of arguments, its attributes in the old and new syntax, and its name in errors.

    ``older`` is a command that may replace the first of ``old``.
    """

    old: tuple[str, ...]
    new: str
    attributes: tuple[str, str]
    older: str = ""
    error: str = "{0} The full arguments you specified were: {1}"


_OF_JOB: Final = ArgumentList(("arguments", "args"), "arguments2", ("Args", "Arguments"))
_OF_JAVA: Final = ArgumentList(
    ("java_vm_arguments", "javavmargs"),
    "java_vm_arguments2",
    ("JavaVMArgs", "JavaVMArguments"),
    "java_vm_args",
    "failed to parse java VM arguments: {0} The full arguments you specified were {1}",
)


class WrongQuotes(ValueError):
    """A text whose quotes cannot be parsed."""


def set_arguments(draft: Draft) -> None:
    """Set Args or Arguments (SubmitHash::SetArguments)."""
    shell = draft.command("shell")
    draft.flag("allow_arguments_v1")
    if shell is not None:
        draft.command(*_OF_JOB.old)
        draft.command(_OF_JOB.new)
        draft.set("Arguments", joined(["-c", shell]))
        return
    found = read_arguments(draft, _OF_JOB)
    if found is not None:
        draft.set(*found.attribute(_OF_JOB))
        if draft.cluster.universe == Universe.JAVA and not found.items:
            message = "In Java universe, you must specify the class name to run."
            name = draft.written("arguments", "args") or draft.written("universe") or "arguments"
            draft.fault("submit-arguments", name, message, "write arguments = MyClass")


def set_java_arguments(draft: Draft, of: ArgumentList = _OF_JAVA) -> None:
    """Set JavaVMArgs or JavaVMArguments (SubmitHash::SetJavaVMArgs), or others, if there are any."""
    found = read_arguments(draft, of)
    if found is not None and found.items:
        draft.set(*found.attribute(of))


class WrittenArguments(NamedTuple):
    """Arguments, and whether they were written in the new syntax."""

    items: list[str]
    is_new: bool

    def attribute(self, of: ArgumentList) -> tuple[str, str]:
        """Return the attribute and its text."""
        return of.attributes[self.is_new], joined(self.items) if self.is_new else " ".join(self.items)


def read_arguments(draft: Draft, of: ArgumentList) -> WrittenArguments | None:
    """Return the arguments of the commands; None if they are faulty, or the job before has set them."""
    old, new = draft.command(*of.old), draft.command(of.new)
    older = draft.command(of.older) if of.older else None
    if _are_contradictory(draft, of, old, older, new):
        return None
    text = new or old or older
    if text is None:
        return None if draft.has(*of.attributes) else WrittenArguments([], is_new=True)
    is_new = new is not None or is_quoted(text)
    try:
        return WrittenArguments(split(unquoted(text)) if is_new else _plain(text), is_new)
    except WrongQuotes as error:
        name = of.new if new is not None else draft.written(*of.old, of.older)
        message = of.error.format(str(error), shown(text))
        draft.fault("submit-arguments", name, message, "write arguments = \"one 'two three'\"")
    return None


def _are_contradictory(draft: Draft, of: ArgumentList, old: str | None, older: str | None, new: str | None) -> bool:
    """Return whether commands are given of which one is enough, and add that fault."""
    if old is not None and older is not None:
        message = f"you specified a value for both {of.older} and {of.old[0]}."
        draft.fault("submit-arguments", of.older, message, "keep one of them")
        return True
    if new is not None and (old or older) is not None and not draft.flag("allow_arguments_v1"):
        message = (
            f"If you wish to specify both '{of.old[0]}' and '{of.new}' for maximal compatibility with different "
            "versions of Condor, then you must also specify allow_arguments_v1=true."
        )
        draft.fault("submit-arguments", of.new, message, "keep one of them")
        return True
    return False


def is_quoted(text: str) -> bool:
    """Return whether a text is in the new syntax."""
    return text.lstrip(_SPACE).startswith('"')


def _plain(text: str) -> list[str]:
    """Split the old syntax at blanks; a double quote needs a backslash before it."""
    out, at = [], 0
    while (quote := text.find('"', at)) >= 0:
        if quote == at or text[quote - 1] != "\\":
            raise WrongQuotes(f"Found illegal unescaped double-quote: {shown(text[quote:])}")
        out.append(text[at : quote - 1] + '"')
        at = quote + 1
    return _WORD.findall("".join(out) + text[at:])


def unquoted(text: str) -> str:
    """Return the text in the double quotes; a doubled one is a literal quote."""
    text = text.lstrip(_SPACE)
    if not text.startswith('"'):
        raise WrongQuotes("Expecting double-quoted input string (V2 format).")
    pieces, at = [], 1
    while True:
        quote = text.find('"', at)
        if quote < 0:
            raise WrongQuotes("Unterminated double-quote.")
        pieces.append(text[at:quote])
        if not text.startswith('"', quote + 1):
            break
        pieces.append('"')
        at = quote + 2
    if text[quote + 1 :].strip(_SPACE):
        raise WrongQuotes(
            "Unexpected characters following double-quote.  Did you forget to escape the double-quote by repeating it? "
            f" Here is the quote and trailing characters: {shown(text[quote:])}"
        )
    return "".join(pieces)


def split(text: str) -> list[str]:
    """Split the new syntax at blanks outside of single quotes; a doubled one inside is a literal quote."""
    found: list[str] = []
    pieces: list[str] = []
    at = 0
    while at < len(text):
        if text[at] in _BLANKS:
            if pieces:
                found.append("".join(pieces))
                pieces = []
            at += 1
        elif text[at] == "'":
            piece, at = _quoted(text, at)
            pieces.append(piece)
        else:
            plain = _PLAIN.match(text, at)
            at = plain.end() if plain else at + 1
            pieces.append(plain[0] if plain else "")
    return [*found, "".join(pieces)] if pieces else found


def _quoted(text: str, start: int) -> tuple[str, int]:
    """Return the text in single quotes that begin at ``start``, and where the rest begins."""
    pieces, at = [], start + 1
    while True:
        quote = text.find("'", at)
        if quote < 0:
            raise WrongQuotes(f"Unbalanced quote starting here: {shown(text[start:])}")
        pieces.append(text[at:quote])
        if not text.startswith("'", quote + 1):
            return "".join(pieces), quote + 1
        pieces.append("'")
        at = quote + 2


def joined(arguments: list[str]) -> str:
    """Return arguments in the new syntax, with single quotes only around blanks and quotes."""
    quoted = (_SPECIAL.sub(lambda match: "'" + match[0].replace("'", "''") + "'", each) for each in arguments)
    return " ".join(each or "''" for each in quoted)


_GETENV: Final = ("getenv", "get_env")
ENVIRONMENT_NAMES: Final = ("environment", "env", "environment2", "allow_environment_v1", *_GETENV)
_DELIMITER: Final = ";"
_QUOTED: Final = "write environment = \"A=1 B='two words'\""


# ``getenv`` only sees the variables that the caller of read_submit() passes.
def set_environment(draft: Draft) -> None:
    """Set Environment, or Env if the old command gives the old syntax.

    A later job of the cluster also gets the variables of the first, even if its own command names others; without a
    command it only gets these, and getenv is ignored.
    """
    first, second = draft.command("environment", "env"), draft.command("environment2")
    allowed = draft.flag("allow_environment_v1")
    if draft.process and first is None and second is None:
        return
    draft.command(*_GETENV)
    if first is not None and second is None:
        draft.command("env")
    if first is not None and second is not None and not allowed:
        message = (
            "If you wish to specify both 'environment' and 'environment2' for maximal compatibility with different "
            "versions of Condor, then you must also specify allow_environment_v1=true."
        )
        draft.fault("submit-environment", "environment2", message, "keep one of them")
        return
    text = (first if second is None else second) or ""
    is_new = second is not None or is_quoted(text)
    try:
        given = _variables(unquoted(text) if is_new else text, is_new=is_new)
    except WrongQuotes as error:
        message = f"{error} The environment you specified was: '{shown(text)}'"
        name = "environment2" if second is not None else draft.written("environment", "env")
        draft.fault("submit-environment", name, message, _QUOTED)
        return
    submitter = _of_submitter(draft, may_delimit=first is None or second is not None)
    found = {**submitter, **_inherited(draft), **given}
    if found or not draft.has("Env", "Environment"):
        env = draft.command("env") if second is None else None
        _write(draft, found, is_old=env is not None and not is_quoted(env))


def _inherited(draft: Draft) -> dict[str, str | None]:
    """Return the variables that a job has from the first of its cluster, none for that job itself (Env::MergeFrom)."""
    if not draft.process:
        return {}
    first = draft.cluster.ad
    new, old = string(first, "Environment"), string(first, "Env")
    try:
        return _variables(new if new is not None else old or "", is_new=new is not None)
    except WrongQuotes:
        return {}


def _variables(text: str, *, is_new: bool) -> dict[str, str | None]:
    """Return the variables of a text in the new syntax, without double quotes, or the old one. Raises WrongQuotes."""
    return dict(map(_pair, filter(None, split(text)) if is_new else old_entries(text)))


def _write(draft: Draft, found: Mapping[str, str | None], *, is_old: bool) -> None:
    """Set the attribute of the syntax, and the other one too if the ad has it already."""
    pairs = [name if found[name] is None else f"{name}={found[name]}" for name in sorted(found)]
    if is_old or draft.has("Env"):
        wrong = next((pair for pair in pairs if _DELIMITER in pair or "\n" in pair), None)
        if wrong is not None:
            why = f"Environment entry is not compatible with V1 syntax: {shown(wrong)}"
            message = f"failed to insert environment into job ad: {why}"
            draft.fault("submit-environment", draft.written("environment", "env"), message, _QUOTED)
            return
        draft.set("Env", _DELIMITER.join(pairs))
        draft.set("EnvDelim", _DELIMITER)
    if not is_old or draft.has("Environment"):
        draft.set("Environment", joined(pairs))


def _of_submitter(draft: Draft, *, may_delimit: bool) -> dict[str, str]:
    """Return the submitter's variables that getenv requests.

    Values that cannot be written are omitted, as HTCondor does without a message.
    """
    text = draft.command(*_GETENV)
    wanted = as_boolean(text, draft.context) if text is not None else False
    environ = draft.cluster.environ
    if text is None or wanted is False or environ is None:
        return {}
    if wanted and not draft.knobs.flag("SUBMIT_ALLOW_GETENV", default=True):
        message = "getenv = true command not allowed because administrator has set SUBMIT_ALLOW_GETENV = false"
        draft.fault("submit-environment", draft.written(*_GETENV), message, "name the variables")
        return {}
    is_taken = _selection([] if wanted else words(text, ",; \t\r\n"))
    forbidden = {"\n"} if may_delimit else {"\n", _DELIMITER}
    return {name: value for name, value in environ.items() if forbidden.isdisjoint(value) and is_taken(name)}


def _selection(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Return a test for names: they match one of the patterns, if any, and none that begins with ``!``."""
    white = [_pattern(each) for each in patterns if not each.startswith("!")]
    black = [_pattern(each[1:]) for each in patterns if each.startswith("!") and len(each) > 1]

    def is_taken(name: str) -> bool:
        if any(pattern.fullmatch(name) for pattern in black):
            return False
        return not white or any(pattern.fullmatch(name) for pattern in white)

    return is_taken


def _pattern(text: str) -> re.Pattern[str]:
    """Return a name with stars as a regular expression that tries no star twice."""
    first, *rest = map(re.escape, re.split(r"\*+", text))
    if not rest:
        return re.compile(first, re.IGNORECASE)
    middle = "".join(f"(?=(?P<g{n}>.*?{piece}))(?P=g{n})" for n, piece in enumerate(rest[:-1]))
    return re.compile(f"(?s:{first}{middle}.*{rest[-1]})", re.IGNORECASE)


def _pair(entry: str) -> tuple[str, str | None]:
    """Return a variable and its value, None for a $$() macro the machine replaces (Env::SetEnvWithErrorMessage)."""
    name, sign, value = entry.partition("=")
    if not sign and "$$" in entry:
        return entry, None
    if not sign:
        raise WrongQuotes(f"ERROR: Missing '=' after environment variable '{shown(name)}'.")
    if not name:
        raise WrongQuotes(f"ERROR: missing variable in '{shown(entry)}'.")
    return name, value


_COMMAND: Final = ("tool_daemon_cmd", "tooldaemoncmd")
_FILES: Final = (
    ("ToolDaemonInput", "tool_daemon_input"),
    ("ToolDaemonOutput", "tool_daemon_output"),
    ("ToolDaemonError", "tool_daemon_error"),
)
_SUSPEND: Final = ("suspend_job_at_exec", "suspendjobatexec")
_ARGUMENTS: Final = ArgumentList(
    ("tool_daemon_arguments", "tooldaemonargs"),
    "tool_daemon_arguments2",
    ("ToolDaemonArgs", "ToolDaemonArguments"),
    "tool_daemon_args",
    "failed to parse tool daemon arguments: {0} The arguments you specified were: {1}",
)

TOOL_NAMES: Final = (
    *_COMMAND,
    *(name for attribute, command in _FILES for name in (command, attribute.lower())),
    *_SUSPEND,
    *(*_ARGUMENTS.old, _ARGUMENTS.new, _ARGUMENTS.older),
)


def set_tool(draft: Draft) -> None:
    """Set the attributes of a tool, if there is one: its files, its arguments, SuspendJobAtExec."""
    if draft.string("ToolDaemonCmd", *_COMMAND) is None:
        return
    for attribute, command in _FILES:
        draft.string(attribute, command, attribute.lower())
    suspends = draft.flag(*_SUSPEND)
    if suspends is not None:
        draft.set("SuspendJobAtExec", suspends)
    set_java_arguments(draft, _ARGUMENTS)
