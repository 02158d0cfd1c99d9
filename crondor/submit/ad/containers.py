"""The image of a job that runs in a container, how it travels, and the ports of its services (HTCondor 25.14).

SubmitHash::SetExecutable, process_container_input_files and SetContainerSpecial; no image is looked at.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from crondor.classad import print_string, to_bytes
from crondor.job.attributes import boolean_of
from crondor.submit.ad import values
from crondor.submit.ad.draft import Draft, shown

_DOCKER: Final = ("docker_image", "dockerimage")
_CONTAINER: Final = ("container_image", "containerimage")
_SERVICES: Final = ("container_service_names", "containerservicenames")
PORT: Final = "_container_port"
_NO_CONTAINERS: Final = ("instance://", "library://", "shub://")
_FETCHED_BY_NAME: Final = ("docker", "oras")
_PORTS: Final = range(1 << 16)

NAMES: Final = (*_DOCKER, *_CONTAINER, *_SERVICES)


def is_in_container(draft: Draft) -> bool:
    """Say whether the job has an image."""
    return draft.cluster.is_docker or draft.cluster.is_container


def look_for_images(draft: Draft) -> None:
    """Decide by the images named whether the jobs are in containers (SetUniverse)."""
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
    """Set DockerImage or ContainerImage, and of what kind that is."""
    cluster = draft.cluster
    if not is_in_container(draft):
        return
    docker = draft.command(*_DOCKER)
    if docker is not None:
        image = values.unquoted(docker)
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
    image = values.unquoted(text)
    if not image or image.startswith(_NO_CONTAINERS):
        message = f"'{shown(image)}' is not a valid container image"
        draft.fault("submit-image", draft.written(*_CONTAINER) or "", message, "name a file or docker://")
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
    """Say in the ad where the image comes from, and return the files to transfer for it.

    None: it does not travel, since its file is where the job runs, or the machine fetches it by its name. An image that
    travels is known by the last part of its name, and is none of the job's own files where many jobs have it in common.
    """
    if not draft.cluster.is_container:
        return None
    image = draft.command(*_CONTAINER)
    shared = tuple(values.words(draft.knobs.get("CONTAINER_SHARED_FS") or "", ","))
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
    """Say whether the image is one that the jobs of a cluster have in common; the job's own word counts most."""
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
    """Set the catalog of files in common that the image is, under a name made of its path."""
    key = image if values.is_url(image) else draft.path(image)
    name = f"container_{sha256(to_bytes(key)).hexdigest()[:8]}"
    draft.set(f"_x_catalog_{name}", image)
    catalogs = draft.text("CommonInputCatalogs") or ""
    if name not in catalogs:
        draft.set("CommonInputCatalogs", f"{catalogs}, {name}" if catalogs else name)


def set_services(draft: Draft) -> None:
    """Set ContainerServiceNames and the port of each service."""
    if not is_in_container(draft):
        return
    for service in values.words(draft.string("ContainerServiceNames", *_SERVICES) or ""):
        command = f"{service}{PORT}".lower()
        port = draft.integer(command, is_int=True)
        if port in _PORTS:
            draft.set(f"{service}_ContainerPort", port or 0)
        else:
            message = (
                f"Requested container service '{shown(service)}' was not assigned a port, or the assigned port was "
                "not valid."
            )
            draft.fault("submit-service", draft.written(command, *_SERVICES) or "", message, f"write {command} = 8080")
