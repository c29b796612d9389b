"""Every rule's input ``code``: the file of what its job is asked, newer than the outputs exactly where they are stale.

What a job is asked is what its rule says, that is inputs, parameters and the command. No name of a rule stands here.
"""

from inspect import signature
from types import SimpleNamespace

from snakemake.logging import logger

from factormech.pipeline import freshness

REQUESTS_FOLDER = Path(".snakemake/factormech")


@cache
def content_of(name):
    """The digest of a file as the run found it."""
    return freshness.digest_of(name)


@cache
def code_list_once(modules):
    """The file that lists the code behind these modules, written once a run."""
    code = code_once(modules)
    path = REQUESTS_FOLDER / f"code/{hashlib.sha256(' '.join(sorted(modules)).encode()).hexdigest()[:16]}.json"
    freshness.note_code(code, path)
    return path


@cache
def rules_with_code():
    """Rule by the function that is its input ``code``."""
    return {id(item): each for each in workflow.rules for item in each.input if callable(item)}


def answer(item, wildcards):
    """What a function of wildcards, or a pattern, says for these wildcards."""
    if callable(item):
        return item(wildcards)
    return re.sub(r"\{(\w+)(,(?:[^{}]|\{[^{}]*\})*)?\}", lambda found: wildcards[found[1]], item)


def files_of(items, wildcards, but=None):
    """The paths that a rule's inputs or outputs stand for."""
    found = []
    for item in [items] if callable(items) or isinstance(items, str) else items:
        if item is not but:
            files = answer(item if callable(item) else str(item), wildcards)
            found += map(str, [files] if isinstance(files, (str, Path)) else files)
    return found


def parameters_of(owner, own, wildcards):
    """What a rule's parameters say, those that depend on its inputs included, and its command."""
    named = {name: files_of(items, wildcards, but=own) for name, items in owner.input.items()}
    known = {"wildcards": wildcards, "input": SimpleNamespace(**named)}
    said = {"command": owner.shellcmd}
    for name, item in owner.params.items():
        said[name] = item(*map(known.__getitem__, signature(item).parameters)) if callable(item) else item
    return said


def request_of(owner, own, modules, wildcards):
    """What a rule's job is asked; ``own`` is the function that asks."""
    behind = code_once(modules)
    return freshness.Request(
        tuple(files_of(owner.output, wildcards)),
        tuple(files_of(owner.input, wildcards, but=own)),
        parameters_of(owner, own, wildcards),
        behind.digest,
        behind.libraries,
    )


def code(modules):
    """An input that says what the job is asked, with the code that these modules need, which may depend on wildcards."""
    noted = {}

    def asked(wildcards):
        prepared()
        owner = rules_with_code()[id(asked)]
        # Rules made in a loop share one path, since a new path would be a new input.
        name = re.sub("(^|_)(solve|evaluate)_.*", r"\1\2", owner.name)  # a module may have put something before it
        mark = hashlib.sha256(json.dumps([name, sorted(wildcards.items())]).encode()).hexdigest()[:16]
        path = REQUESTS_FOLDER / f"requests/{mark}/{name}.json"
        # The parts of a run that are elsewhere, on a cluster, are told by the file that the run itself has written.
        if mark not in noted and workflow.is_main_process:
            with recovery.refusing():
                note_request(owner, asked, tuple(modules(wildcards)), wildcards, path)
            noted[mark] = True
        return str(path)

    return asked


def note_request(owner, own, modules, wildcards, path):
    """Write what a job is asked, and say why its outputs, if there are any, will be made again."""
    request = request_of(owner, own, modules, wildcards)
    if not workflow.dryrun:
        freshness.bring_back([*request.outputs, *request.inputs])
    stale = freshness.why_stale(request, content_of) if request.outputs else None
    freshness.note(request, path, code_list_once(modules), stale)
    if stale and any(map(os.path.exists, request.outputs)):
        logger.info(f"to be made again: {request.outputs[0]} ({stale})")
