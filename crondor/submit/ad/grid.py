"""A job for another system, a batch system or a cloud (HTCondor 25.14: SubmitHash::SetGridParams, handleAVPairs).

Whether key files and the like are there is not looked at.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

from crondor.classad import lower
from crondor.schedule import Universe
from crondor.submit.ad import values
from crondor.submit.ad.draft import Draft


class _Kind(Enum):
    STRING = "string"
    FILE = "string, a file name from the root"
    LIST = "string, a list with commas"
    EXPRESSION = "expression"
    BOOLEAN = "boolean"


class _Command(NamedTuple):
    """A command and its attribute; a job of the grid type ``needed_by`` must have it."""

    command: str
    attribute: str
    kind: _Kind = _Kind.STRING
    needed_by: str = ""


_JOBS_REQUIRE: Final = {"ec2": "EC2 jobs require a", "gce": "GCE jobs require a", "azure": "Azure jobs require an"}
_RESOURCE: Final = ("grid_resource", "gridresource")
_OF_BATCH: Final = (
    _Command("arc_rte", "ArcRte"),
    _Command("arc_resources", "ArcResources"),
    _Command("arc_application", "ArcApplication"),
    _Command("arc_data_staging", "ArcDataStaging"),
    _Command("batch_extra_submit_args", "BatchExtraSubmitArgs"),
    _Command("batch_project", "BatchProject"),
    _Command("batch_queue", "BatchQueue"),
    _Command("batch_runtime", "BatchRuntime", _Kind.EXPRESSION),
)
_OF_EC2: Final = (
    _Command("ec2_security_groups", "EC2SecurityGroups"),
    _Command("ec2_security_ids", "EC2SecurityIDs"),
    _Command("ec2_ami_id", "EC2AmiID", needed_by="ec2"),
    _Command("ec2_instance_type", "EC2InstanceType"),
    _Command("ec2_vpc_subnet", "EC2VpcSubnet"),
    _Command("ec2_vpc_ip", "EC2VpcIp"),
    _Command("ec2_elastic_ip", "EC2ElasticIp"),
    _Command("ec2_availability_zone", "EC2AvailabilityZone"),
)
_MORE_OF_EC2: Final = (
    _Command("ec2_spot_price", "EC2SpotPrice"),
    _Command("ec2_block_device_mapping", "EC2BlockDeviceMapping"),
    _Command("ec2_user_data", "EC2UserData"),
    _Command("ec2_user_data_file", "EC2UserDataFile", _Kind.FILE),
    _Command("ec2_iam_profile_arn", "EC2IamProfileArn"),
)
_OF_GCE_AND_AZURE: Final = (
    _Command("gce_auth_file", "GceAuthFile", _Kind.FILE),
    _Command("gce_account", "GceAccount"),
    _Command("gce_image", "GceImage", needed_by="gce"),
    _Command("gce_machine_type", "GceMachineType", needed_by="gce"),
    _Command("gce_metadata", "GceMetadata", _Kind.LIST),
    _Command("gce_metadata_file", "GceMetadataFile", _Kind.FILE),
    _Command("gce_preemptible", "GcePreemptible", _Kind.BOOLEAN),
    _Command("gce_json_file", "GceJsonFile", _Kind.FILE),
    _Command("azure_auth_file", "AzureAuthFile", _Kind.FILE),
    _Command("azure_image", "AzureImage", needed_by="azure"),
    _Command("azure_location", "AzureLocation", needed_by="azure"),
    _Command("azure_size", "AzureSize", needed_by="azure"),
    _Command("azure_admin_username", "AzureAdminUsername", needed_by="azure"),
    _Command("azure_admin_key", "AzureAdminKey", needed_by="azure"),
)
# Each key may be given by one of two commands.
_KEYS: Final = (
    ("EC2AccessKeyId", "ec2_access_key_id", "aws_access_key_id_file"),
    ("EC2SecretAccessKey", "ec2_secret_access_key", "aws_secret_access_key_file"),
)
_OF_THE_MACHINE: Final = "FROM INSTANCE"
_PAIR: Final = ("ec2_keypair", "ec2_keyp_air")
_PAIR_FILE: Final = ("ec2_keypair_file", "ec2_key_pair_file")
_VOLUMES: Final = ("ec2_ebs_volumes", "ec2elasticblockstoragevolumes")
_PROFILE: Final = ("ec2_iam_profile_name", "ec2iamprofilename")
_PARAMETERS: Final = ("ec2_parameter_names", "ec2paramnames")
_PARAMETER: Final = "ec2_parameter_"


class _Labels(NamedTuple):
    """Names with values that a cloud shows beside an instance: prefixes of their commands and attributes."""

    command: str
    attribute: str

    @property
    def names(self) -> tuple[str, str]:
        """The commands that list the names."""
        return f"{self.command}names", f"{self.attribute.lower()}names"


_TAGS: Final = _Labels("ec2_tag_", "EC2Tag")
_CLOUD: Final = _Labels("cloud_label_", "CloudLabel")

PREFIXES: Final = (
    _PARAMETER,
    *(prefix for labels in (_TAGS, _CLOUD) for prefix in (labels.command, labels.attribute.lower())),
)
NAMES: Final = (
    *_RESOURCE,
    *(
        name
        for each in (*_OF_BATCH, *_OF_EC2, *_MORE_OF_EC2, *_OF_GCE_AND_AZURE)
        for name in (each.command, each.attribute.lower())
    ),
    *(name for attribute, *commands in _KEYS for name in (attribute.lower(), *commands)),
    *(*_PAIR, "ec2keypair", *_PAIR_FILE, "ec2keypairfile", *_VOLUMES, *_PROFILE, *_PARAMETERS, "wantnametag"),
    *(*_TAGS.names, *_CLOUD.names),
)


def set_grid(draft: Draft) -> None:
    """Set GridResource and all that the job says to the other system."""
    if draft.cluster.universe != Universe.GRID:
        return
    resource = draft.string("GridResource", *_RESOURCE)
    if resource is not None:
        draft.cluster.grid_type = resource.split(" ")[0]
        if lower(resource) == "ec2":
            draft.fault("submit-grid", "grid_resource", "EC2 grid jobs require a service URL", "write it behind ec2")
    _set_all(draft, _OF_BATCH)
    _set_ec2(draft)
    for labels in (_TAGS, _CLOUD):
        _set_labels(draft, labels)
    _set_all(draft, _OF_GCE_AND_AZURE)


def _is_of(draft: Draft, kind: str) -> bool:
    return lower(draft.cluster.grid_type) == kind


def _set_all(draft: Draft, commands: tuple[_Command, ...]) -> None:
    for each in commands:
        text = draft.command(each.command, each.attribute.lower())
        if text is not None:
            _set(draft, each, text)
        elif each.needed_by and _is_of(draft, each.needed_by) and not draft.has(each.attribute):
            message = f'{_JOBS_REQUIRE[each.needed_by]} "{each.command}" parameter'
            draft.fault("submit-grid", _RESOURCE[0], message, f"write {each.command} = its value")


def _set(draft: Draft, each: _Command, text: str) -> None:
    names = each.command, each.attribute.lower()
    if each.kind is _Kind.EXPRESSION:
        draft.expression(each.attribute, text, draft.written(*names) or "")
    elif each.kind is _Kind.BOOLEAN:
        flag = draft.flag(*names)
        if flag is not None:
            draft.set(each.attribute, flag)
    elif each.kind is _Kind.LIST:
        draft.set(each.attribute, ",".join(values.words(text, ",")))
    else:
        draft.set(each.attribute, draft.path(text) if each.kind is _Kind.FILE else text)


def _set_ec2(draft: Draft) -> None:
    _set_keys(draft)
    pair = draft.command(_PAIR[0], "ec2keypair") or draft.command(_PAIR[1], "ec2keypair")
    if pair is not None:
        draft.set("EC2KeyPair", pair)
    file = draft.command(_PAIR_FILE[0], "ec2keypairfile") or draft.command(_PAIR_FILE[1], "ec2keypairfile")
    if file is not None and not draft.has("EC2KeyPair"):
        draft.set("EC2KeyPairFile", draft.path(file))
    _set_all(draft, _OF_EC2)
    _set_volumes(draft)
    _set_all(draft, _MORE_OF_EC2)
    profile = draft.command(*_PROFILE)
    if profile is not None and draft.has("EC2IamProfileArn"):  # 25.14 asks the wrong way round
        draft.set("EC2IamProfileName", profile)
    _set_parameters(draft)


def _set_keys(draft: Draft) -> None:
    """Set the paths of both keys; one that the machine itself gives stands for both."""
    for attribute, command, other in _KEYS:
        key = draft.command(command, attribute.lower()) or draft.command(other, attribute.lower())
        if key is not None and lower(key) == lower(_OF_THE_MACHINE):
            for each, *_ in _KEYS:
                draft.set(each, _OF_THE_MACHINE)
        elif key is not None:
            draft.set(attribute, draft.path(key))
    if _is_of(draft, "ec2"):
        for attribute, command, other in _KEYS:
            if not draft.has(attribute):
                message = f"EC2 jobs require a '{command}' or '{other}' parameter"
                draft.fault("submit-grid", _RESOURCE[0], message, f"write {command} = its file")


def _set_volumes(draft: Draft) -> None:
    text = draft.command(*_VOLUMES)
    if text is None:
        return
    name = draft.written(*_VOLUMES) or ""
    volumes = values.words(text, ",")
    if not volumes or any(volume.count(":") != 1 for volume in volumes):
        message = "'ec2_ebs_volumes' has incorrect format."
        draft.fault("submit-grid", name, message, "write ec2_ebs_volumes = vol-35bcc15e:hda1,vol-35bcc16f:hda2")
    elif not draft.has("EC2AvailabilityZone"):
        message = "'ec2_ebs_volumes' requires 'ec2_availability_zone'"
        draft.fault("submit-grid", name, message, "write ec2_availability_zone = the zone of the volumes")
    else:
        draft.set("EC2ElasticBlockStorageVolumes", text)


def _set_parameters(draft: Draft) -> None:
    """Set a parameter for each command that begins so, with its text as it is written, and list their names."""
    names = values.words(draft.command(*_PARAMETERS) or draft.text("EC2ParamNames") or "")
    for command in draft.named(_PARAMETER):
        if command == _PARAMETERS[0]:
            continue
        name = draft.spelled(command)[len(_PARAMETER) :]
        draft.set(f"EC2Param_{name}", draft.command(command) or "")
        if lower(name) not in {lower(known).replace(".", "_") for known in names}:
            names.append(name)
    if names:
        draft.set("EC2ParamNames", ", ".join(names))


def _set_labels(draft: Draft, labels: _Labels) -> None:
    """Set an attribute for each label, and list their names; an instance of EC2 is called after its executable."""
    listed = f"{labels.attribute}Names"
    names = values.words(draft.command(*labels.names) or draft.text(listed) or "")
    for command in draft.named(labels.command, labels.attribute.lower()):
        prefix = labels.command if command.startswith(labels.command) else labels.attribute
        name = draft.spelled(command)[len(prefix) :]
        if name and not lower(name).startswith("names") and lower(name) not in map(lower, names):
            names.append(name)
    for name in names:
        attribute = f"{labels.attribute}{name}"
        draft.string(attribute, f"{labels.command}{name}".lower(), attribute.lower())
    if _is_of(draft, "ec2") and "name" not in map(lower, names) and draft.flag("wantnametag") is not False:
        program = draft.text("Cmd")
        if program is not None:
            draft.set(f"{labels.attribute}Name", program)
    if names:
        draft.set(listed, ",".join(names))
