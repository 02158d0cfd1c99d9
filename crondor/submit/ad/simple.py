"""The commands whose value goes into an attribute as it is: a table, and the one rule for all of them.

The source is HTCondor 25.14: prunable_keywords, SubmitHash::do_simple_commands, SetExtendedJobExprs. Whether files are
there is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple

from crondor.classad import ERROR, UNDEFINED, Format, lower, read_ads
from crondor.schedule import COMMANDS as SCHEDULING
from crondor.spec import FIELDS
from crondor.submit.ad import values
from crondor.submit.ad.draft import Draft, shown
from crondor.submit.ad.knobs import SubmitKnobs


class ValueKind(Enum):
    """How a value is read."""

    STRING = "string"
    BARE = "string, without the quotes around it"
    LIST = "string, a list"
    BARE_LIST = "string, a list, without the quotes around it"
    FILE = "string, a file name from the root"
    BARE_FILE = "string, a file name from the root, without the quotes around it"
    EXPRESSION = "expression"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    COUNT = "integer from 0"
    DISABLED = "nothing: the administrator has disabled the command"


_UNQUOTED: Final = frozenset((ValueKind.BARE, ValueKind.BARE_LIST, ValueKind.BARE_FILE))
_LISTS: Final = frozenset((ValueKind.LIST, ValueKind.BARE_LIST))
_FILES: Final = frozenset((ValueKind.FILE, ValueKind.BARE_FILE))


class Simple(NamedTuple):
    """A command and its attribute; ``alternative``: another spelling of the command before it, looked at without it."""

    command: str
    attribute: str
    kind: ValueKind
    alternative: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names a value may be given by, in order of precedence."""
        return self.command, self.attribute.lower()


def _of(kind: ValueKind, **attributes: str) -> tuple[Simple, ...]:
    return tuple(Simple(command, attribute, kind) for command, attribute in attributes.items())


TABLE: Final = (
    *_of(
        ValueKind.EXPRESSION,
        next_job_start_delay="NextJobStartDelay",
        keep_claim_idle="KeepClaimIdle",
        max_idle="JobMaterializeMaxIdle",
    ),
    Simple("materialize_max_idle", "JobMaterializeMaxIdle", ValueKind.EXPRESSION, alternative=True),
    *_of(
        ValueKind.EXPRESSION,
        want_graceful_removal="WantGracefulRemoval",
        job_max_vacate_time="JobMaxVacateTime",
        file_remaps="FileRemaps",
        buffer_files="BufferFiles",
        buffer_size="BufferSize",
        buffer_block_size="BufferBlockSize",
        noop_job="IsNoopJob",
        noop_job_exit_signal="NoopJobExitSignal",
        noop_job_exit_code="NoopJobExitCode",
        stack_size="StackSize",
        max_job_retirement_time="MaxJobRetirementTime",
        job_lease_duration="JobLeaseDuration",
        max_transfer_input_mb="MaxTransferInputMB",
        max_transfer_output_mb="MaxTransferOutputMB",
        allowed_job_duration="AllowedJobDuration",
        allowed_execute_duration="AllowedExecuteDuration",
    ),
    *_of(
        ValueKind.STRING,
        job_ad_information_attrs="JobAdInformationAttrs",
        ulog_execute_attrs="UserLogExecuteEventAttrs",
        docker_network_type="DockerNetworkType",
        docker_pull_policy="DockerPullPolicy",
        transfer_plugins="TransferPlugins",
        job_machine_attrs="JobMachineAttrs",
        notify_user="NotifyUser",
        remote_initialdir="RemoteIwd",
        remote_grid_resource="Remote_GridResource",
        remote_remote_grid_resource="Remote_Remote_GridResource",
        output_destination="OutputDestination",
        encrypt_input_files="EncryptInputFiles",
        encrypt_output_files="EncryptOutputFiles",
        dont_encrypt_input_files="DontEncryptInputFiles",
        dont_encrypt_output_files="DontEncryptOutputFiles",
        primary_unix_group="PrimaryUnixGroup",
        fetch_files="FetchFiles",
        compress_files="CompressFiles",
        append_files="AppendFiles",
        local_files="LocalFiles",
        dag_node_name="DAGNodeName",
        submit_event_notes="SubmitEventNotes",
        submit_event_user_notes="SubmitEventUserNotes",
        submit_event_notes_attrs="SubmitEventNotesAttrs",
        jar_files="JarFiles",
        parallel_script_shadow="ParallelScriptShadow",
        parallel_script_starter="ParallelScriptStarter",
        description="JobDescription",
        manifest_dir="ManifestDir",
        checkpoint_destination="CheckpointDestination",
        aws_region="AWSRegion",
        transfer_checkpoint_files="TransferCheckpoint",
        cuda_version="CUDAVersion",
    ),
    # Three commands for one attribute: the last one that is given wins.
    *(Simple(f"{cloud}_access_key_id_file", "EC2AccessKeyId", ValueKind.STRING) for cloud in ("aws", "s3", "gs")),
    *(
        Simple(f"{cloud}_secret_access_key_file", "EC2SecretAccessKey", ValueKind.STRING)
        for cloud in ("aws", "s3", "gs")
    ),
    *(Simple(field.command, field.attribute, ValueKind.STRING) for field in FIELDS),
    *_of(ValueKind.LIST, email_attributes="EmailAttributes"),
    *_of(ValueKind.FILE, log="UserLog", dagman_log="DAGManNodesLog", output_directory="OutputDirectory"),
    *_of(ValueKind.BARE_FILE, starter_log="JobStarterLog"),
    *_of(
        ValueKind.BARE,
        container_target_dir="ContainerTargetDir",
        mount_under_scratch="MountUnderScratch",
        starter_debug="JobStarterDebug",
        batch_name="JobBatchName",
        batch_id="JobBatchId",
        jobset="JobSetName",
    ),
    *_of(
        ValueKind.BOOLEAN,
        docker_override_entrypoint="DockerOverrideEntrypoint",
        docker_send_credentials="DockerSendCredentials",
        transfer_container="TransferContainer",
        want_io_proxy="WantIOProxy",
        want_job_networking="WantJobNetworking",
        container_is_common="ContainerIsCommon",
        encrypt_execute_directory="EncryptExecuteDirectory",
        load_profile="LoadProfile",
        log_xml="UserLogUseXML",
        run_as_owner="RunAsOwner",
        manifest="ManifestDesired",
        erase_output_and_error_on_restart="EraseOutputAndErrorOnRestart",
        preserve_relative_paths="PreserveRelativePaths",
        skip_if_dataflow="SkipIfDataflow",
    ),
    *_of(
        ValueKind.INTEGER,
        job_machine_attrs_history_length="JobMachineAttrsHistoryLength",
        match_list_length="LastMatchListLength",
        core_size="CoreSize",
        checkpoint_exit_code="SuccessCheckpointExitCode",
        priority="JobPrio",
    ),
    Simple("prio", "JobPrio", ValueKind.INTEGER, alternative=True),
    *_of(ValueKind.COUNT, dagman_job_id="DAGManJobId"),
)

NAMES: Final = frozenset((*SCHEDULING, *(name for simple in TABLE for name in simple.names)))


_PLACES: Final[dict[str, list[int]]] = {}
for _place, _simple in enumerate(TABLE):
    for _name in _simple.names:
        _PLACES.setdefault(_name, []).append(_place)


def set_simple(draft: Draft) -> None:
    """Set the attributes of all simple commands that are given."""
    before = -1
    for place in sorted({place for name in draft.commands for place in _PLACES.get(name, ())}):
        simple = TABLE[place]
        if simple.alternative and before == place - 1:
            continue
        text = draft.command(*simple.names)
        if text is not None:
            before = place
            _set(draft, simple, text)


def extended(knobs: SubmitKnobs) -> Iterator[Simple]:
    """Yield the commands that the administrator has added (EXTENDED_SUBMIT_COMMANDS), each under its attribute's name.

    They are spelled as there, which is how HTCondor names them in its errors. The value of each in the configuration
    says what it must be; one of undefined is no command.
    """
    text = knobs.get("EXTENDED_SUBMIT_COMMANDS")
    if text is None:
        return
    for ad in read_ads(text, Format.LONG, report=lambda _: None):
        for name, expression in ad.items():
            found = values.literal(expression.tree)
            kind = ValueKind.EXPRESSION if found is None else _kind(found.value)
            if kind is not None:
                yield Simple(name, name, kind)


def _kind(value: object) -> ValueKind | None:
    """Return how a value is read that must be like another one; None for what is no command."""
    kind: ValueKind | None = ValueKind.EXPRESSION
    if value is UNDEFINED or value is ERROR:
        kind = None if value is UNDEFINED else ValueKind.DISABLED
    elif isinstance(value, bool):
        kind = ValueKind.BOOLEAN
    elif isinstance(value, int):
        kind = ValueKind.INTEGER if value < 0 else ValueKind.COUNT
    elif isinstance(value, str):
        is_file = lower(value).startswith("file")
        kind = ValueKind.BARE_LIST if "," in value else ValueKind.BARE_FILE if is_file else ValueKind.BARE
    return kind


def set_extended(draft: Draft) -> None:
    """Set the attributes of the commands that the administrator has added."""
    for simple in extended(draft.knobs):
        text = draft.command(*simple.names)
        if text is not None:
            _set(draft, simple, text)


def _set(draft: Draft, simple: Simple, text: str) -> None:
    kind = simple.kind
    if kind is ValueKind.EXPRESSION:
        draft.copy_expression(simple.attribute, *simple.names)
    elif kind is ValueKind.DISABLED:
        message = f"{simple.attribute}={shown(text)} has been disabled by the administrator."
        page = draft.knobs.get("EXTENDED_SUBMIT_HELPFILE")
        instead = "remove it" if page is None else f"remove it; the pool's own commands are explained in {page}"
        draft.fault("submit-disabled", draft.written(*simple.names) or "", message, instead)
    elif kind is ValueKind.BOOLEAN:
        flag = draft.flag(*simple.names)
        if flag is not None:
            draft.set(simple.attribute, flag)
    elif kind is ValueKind.INTEGER or kind is ValueKind.COUNT:
        number = draft.integer(*simple.names)
        if number is not None and number < 0 and kind is ValueKind.COUNT:
            draft.refuse(simple.names, text, "must eval to a non-negative integer", "write an integer from 0 up")
        elif number is not None:
            draft.set(simple.attribute, number)
    else:
        draft.set(simple.attribute, _string(draft, kind, text))


def _string(draft: Draft, kind: ValueKind, text: str) -> str:
    text = values.unquoted(text) if kind in _UNQUOTED else text
    if kind in _FILES and text:
        return draft.path(text)
    return ",".join(values.words(text)) if kind in _LISTS else text
