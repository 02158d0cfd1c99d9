"""A conversion does what the old routes did: for any table the releases took, or it says what it changes."""

from crondor.config import Configuration, read_config
from crondor.diagnostics import Source
from crondor.router import apply_route, load_table
from crondor.router.compare import plain_job
from crondor.router.legacy import Macros, convert_table, read_legacy
from crondor.router.legacy.configuration import NewTable
from crondor.router.legacy.verifying import Verified, verify

_CONSTRAINT = "JOB_ROUTER_SOURCE_JOB_CONSTRAINT = target.JobUniverse == 5\n"


def tried(text: str) -> tuple[NewTable, Verified]:
    """Convert a table and try the result."""
    configuration = read_config(Source(_CONSTRAINT + text, "old.conf"))
    made = convert_table(read_legacy(configuration, macros=Macros.KEPT))
    return made, verify(read_legacy(configuration), made)


def test_what_transforms_around_a_route_read_is_not_lost() -> None:
    """The queue and the memory of a site's file, and its universe, are what the transforms after the route see."""
    around = """\
JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES = Queue
JOB_ROUTER_TRANSFORM_Queue @=end
  REQUIREMENTS BatchQueue is undefined
  SET BatchQueue "$(default_queue)"
  SET Universe "$(TargetUniverse)"
  EVALSET Cores $(default_xcount:1)
  SET Site "$(site_of)"
@end
"""
    table = """\
JOB_ROUTER_ENTRIES = [ Name = "A"; TargetUniverse = 5; set_default_queue = "grid"; eval_set_default_xcount = 2 * 2; \
set_site_of = "here"; set_unread = "x" ]
"""
    made, found = tried(around + table)
    assert not found.diagnostics
    text = str(made)
    assert "   default_queue = grid\n" in text
    assert "   EVALMACRO default_xcount 2 * 2\n" in text
    assert "   site_of = here\n" in text
    assert "   unread = " not in text
    ad = _copy(read_config(Source(_CONSTRAINT + around + text, "new.conf")))
    assert [ad[name] for name in ("BatchQueue", "Universe", "Cores", "Site")] == ['"grid"', '"5"', "4", '"here"']


def _copy(configuration: Configuration) -> dict[str, str]:
    table = load_table(configuration)
    ad = apply_route(table, table.routes[0], plain_job()).ad
    assert ad is not None
    return {name: ad.text(name) for name in ad}


def test_the_queue_by_its_old_name_is_set_by_the_new_one_too() -> None:
    """HTCondor-CE fills BatchQueue otherwise."""
    configuration = read_config('JOB_ROUTER_ENTRIES = [ Name = "A"; TargetUniverse = 9; set_remote_queue = "cms" ]')
    table = read_legacy(configuration)
    assert 'SET BatchQueue "cms"' in str(convert_table(table, ["default_queue"]))
    assert "BatchQueue" not in str(convert_table(table))


def test_what_an_older_entrypoint_generated_is_left_out() -> None:
    """Its transforms do that now; limits stay, and what the site has changed."""
    configuration = read_config(
        "JOB_ROUTER_DEFAULTS_GENERATED = [ MaxJobs = 5; set_A = 1; set_B = 2 ]\n"
        "JOB_ROUTER_DEFAULTS = [ MaxJobs = 5; set_A = 1; set_B = 3 ]\n"
        'JOB_ROUTER_ENTRIES = [ Name = "A"; Requirements = true ]\n'
    )
    text = str(convert_table(read_legacy(configuration, without_generated=True)))
    assert ("MaxJobs = 5" in text, "SET A" in text, "SET B 3" in text) == (True, False, True)
    assert "SET A 1" in str(convert_table(read_legacy(configuration)))


def test_a_malformed_route_is_a_comment_that_nothing_continues() -> None:
    """All of its text, and the reason."""
    source = Source(
        'JOB_ROUTER_ENTRIES @=e\n[ Name = "A"; \\\n set_X = ( ]\n[ Name = "B"; Requirements = true ]\n@e\n', "o"
    )
    made = convert_table(read_legacy(read_config(source)))
    comment = [line for line in str(made).splitlines() if line.startswith("#")]
    assert "malformed route in JOB_ROUTER_ENTRIES" in comment[0]
    assert any('Name = "A"' in line for line in comment)
    assert not any(line.endswith("\\") for line in comment)
    assert read_config(str(made)).string("JOB_ROUTER_ROUTE_NAMES") == "B"


def test_a_schedd_s_transforms_are_converted_with_the_routes() -> None:
    """Those that are ClassAds; what differs is found."""
    text = 'JOB_TRANSFORM_NAMES = T, U\nJOB_TRANSFORM_T = [ Requirements = VO == "a"; copy_VO = "Old"; set_VO = "b" ]\n'
    made, found = tried(text + "JOB_TRANSFORM_U @=end\n  SET X 1\n@end\n")
    assert [each.name for each in made.transforms] == ["T"]
    assert 'JOB_TRANSFORM_T @=jre\n   REQUIREMENTS VO == "a"\n' in str(made)
    assert (found.jobs > 2, found.diagnostics) == (True, ())
    made, found = tried("JOB_TRANSFORM_T = [ eval_set_N = TARGET.RequestCpus ]\n")
    assert "JOB_TRANSFORM_T: N is 1, and was undefined" in found.diagnostics[0].message


def test_jobs_meet_the_source_constraint() -> None:
    """Else no job would come to any route, and every conversion would seem to be the same."""
    text = (
        "JOB_ROUTER_SOURCE_JOB_CONSTRAINT = WantJobRouter is true && Site == 4\n"
        'JOB_ROUTER_ENTRIES = [ Name = "A"; TargetUniverse = 5; eval_set_N = TARGET.RequestCpus ]\n'
    )
    _, found = tried(text)
    assert [each.message for each in found.diagnostics] == [
        "A: N is 1, and was undefined, for a job with WantJobRouter = true, Site = 4"
    ]


def test_a_site_s_file_without_the_constraint_is_tried_as_well() -> None:
    """An entrypoint has the constraint in another file; its routes are no less there."""
    configuration = read_config('JOB_ROUTER_ENTRIES = [ Name = "A"; GridResource = "arc"; eval_set_N = TARGET.Size ]')
    table = read_legacy(configuration)
    assert [each.message.partition(",")[0] for each in verify(table, convert_table(table)).diagnostics] == [
        "A: N is true"
    ]


def test_what_was_left_out_before_and_takes_jobs_now_is_said() -> None:
    """HTCondor 23 refuses a line of the route, and the conversion makes a comment of it."""
    _, found = tried('JOB_ROUTER_ENTRIES = [ Name = "A"; GridResource = "arc"; queue = "short"; MaxJobs = 5 ]\n')
    assert found.diagnostics[0].message == "A now takes jobs; HTCondor 23 rejected it"


def test_limits_and_the_order_are_compared() -> None:
    """And nothing else is said of a table that converts as it is."""
    text = (
        'JOB_ROUTER_ENTRIES = [ Name = "A"; MaxJobs = 2 * 50; Requirements = VO == "x" ] [ Name = "B"; MaxJobs = 7 ]\n'
    )
    made, found = tried(text)
    assert (found.jobs > 2, found.diagnostics) == (True, ())
    other = made._replace(names=made.names[::-1], routes=tuple(route._replace(text="") for route in made.routes))
    said = [each.message for each in verify(read_legacy(read_config(_CONSTRAINT + text)), other).diagnostics]
    assert said
