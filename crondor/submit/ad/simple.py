"""The commands whose value goes into an attribute as it is: a table, and the one rule for all of them.

The source is HTCondor 25.14: prunable_keywords, SubmitHash::do_simple_commands. What only concerns files of the
submit machine (log, starter_log, x509userproxy) keeps the path as it is written.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

from crondor.schedule import COMMANDS as SCHEDULING
from crondor.spec import FIELDS
from crondor.submit.ad import values
from crondor.submit.ad.draft import Draft


class Kind(Enum):
    """How a value is read."""

    STRING = "string"
    BARE = "string, without the quotes around it"
    LIST = "string, a list"
    EXPRESSION = "expression"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    COUNT = "integer from 0"


class Simple(NamedTuple):
    """A command and its attribute; ``alternative``: another spelling of the command before it, looked at without it."""

    command: str
    attribute: str
    kind: Kind
    alternative: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names a value may be given by, in order of precedence."""
        return self.command, self.attribute.lower()


def _of(kind: Kind, **attributes: str) -> tuple[Simple, ...]:
    return tuple(Simple(command, attribute, kind) for command, attribute in attributes.items())


TABLE: Final = (
    *_of(
        Kind.EXPRESSION,
        next_job_start_delay="NextJobStartDelay",
        keep_claim_idle="KeepClaimIdle",
        max_idle="JobMaterializeMaxIdle",
    ),
    Simple("materialize_max_idle", "JobMaterializeMaxIdle", Kind.EXPRESSION, alternative=True),
    *_of(
        Kind.EXPRESSION,
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
        Kind.STRING,
        job_ad_information_attrs="JobAdInformationAttrs",
        ulog_execute_attrs="UserLogExecuteEventAttrs",
        docker_network_type="DockerNetworkType",
        docker_pull_policy="DockerPullPolicy",
        transfer_plugins="TransferPlugins",
        job_machine_attrs="JobMachineAttrs",
        notify_user="NotifyUser",
        x509userproxy="x509userproxy",
        remote_initialdir="RemoteIwd",
        remote_grid_resource="Remote_GridResource",
        remote_remote_grid_resource="Remote_Remote_GridResource",
        output_destination="OutputDestination",
        output_directory="OutputDirectory",
        encrypt_input_files="EncryptInputFiles",
        encrypt_output_files="EncryptOutputFiles",
        dont_encrypt_input_files="DontEncryptInputFiles",
        dont_encrypt_output_files="DontEncryptOutputFiles",
        primary_unix_group="PrimaryUnixGroup",
        fetch_files="FetchFiles",
        compress_files="CompressFiles",
        append_files="AppendFiles",
        local_files="LocalFiles",
        log="UserLog",
        dagman_log="DAGManNodesLog",
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
    *(Simple(f"{cloud}_access_key_id_file", "EC2AccessKeyId", Kind.STRING) for cloud in ("aws", "s3", "gs")),
    *(Simple(f"{cloud}_secret_access_key_file", "EC2SecretAccessKey", Kind.STRING) for cloud in ("aws", "s3", "gs")),
    *(Simple(field.command, field.attribute, Kind.STRING) for field in FIELDS),
    *_of(Kind.LIST, email_attributes="EmailAttributes"),
    *_of(
        Kind.BARE,
        container_target_dir="ContainerTargetDir",
        mount_under_scratch="MountUnderScratch",
        starter_debug="JobStarterDebug",
        starter_log="JobStarterLog",
        batch_name="JobBatchName",
        batch_id="JobBatchId",
        jobset="JobSetName",
    ),
    *_of(
        Kind.BOOLEAN,
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
        Kind.INTEGER,
        job_machine_attrs_history_length="JobMachineAttrsHistoryLength",
        match_list_length="LastMatchListLength",
        core_size="CoreSize",
        checkpoint_exit_code="SuccessCheckpointExitCode",
        priority="JobPrio",
    ),
    Simple("prio", "JobPrio", Kind.INTEGER, alternative=True),
    *_of(Kind.COUNT, dagman_job_id="DAGManJobId"),
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


def _set(draft: Draft, simple: Simple, text: str) -> None:
    kind = simple.kind
    if kind is Kind.EXPRESSION:
        draft.copy_expression(simple.attribute, *simple.names)
    elif kind is Kind.BOOLEAN:
        flag = draft.flag(*simple.names)
        if flag is not None:
            draft.set(simple.attribute, flag)
    elif kind is Kind.INTEGER or kind is Kind.COUNT:
        number = draft.integer(*simple.names)
        if number is not None and number < 0 and kind is Kind.COUNT:
            draft.refuse(simple.names, text, "must eval to a non-negative integer", "write an integer from 0 up")
        elif number is not None:
            draft.set(simple.attribute, number)
    else:
        draft.set(simple.attribute, _string(kind, text))


def _string(kind: Kind, text: str) -> str:
    if kind is Kind.BARE:
        return values.unquoted(text)
    return ",".join(values.words(text)) if kind is Kind.LIST else text
