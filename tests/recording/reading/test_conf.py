"""`whatif --conf`: options from files of the engine and of its Kubernetes operator."""

from __future__ import annotations

from pathlib import Path

import pytest

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.cli.main import main
from ckptsim.sim.infer.change.conf import read_configuration

Captured = pytest.CaptureFixture[str]
FLAT = """\
# the cluster
jobmanager.rpc.address: jm
parallelism.default: 4
execution.checkpointing.interval: 5 s   # often
execution.checkpointing.unaligned.enabled: "true"
restart-strategy.type: fixed-delay
restart-strategy.fixed-delay.delay: 7 s
"""
NESTED = """\
jobmanager:
  rpc: {address: jm}
execution:
  checkpointing:
    interval: 5 s
    unaligned: {enabled: true}
"""
DEPLOYMENT = """\
apiVersion: v1
kind: ConfigMap
---
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: orders}
spec:
  flinkConfiguration:
    jobmanager.rpc.address: jm
    execution.checkpointing.interval: 5 s
    execution.checkpointing.unaligned.enabled: "true"
  job: {jarURI: "local:///job.jar", parallelism: 3}
"""
WANTED = {
    "execution.checkpointing.interval": "5 s",
    "execution.checkpointing.unaligned.enabled": "true",
}


def written(to: Path, text: str) -> Path:
    """Write a file and return its path."""
    (to / "conf.yaml").write_text(text)
    return to / "conf.yaml"


@pytest.mark.parametrize(
    ("text", "more"), [(FLAT, {}), (NESTED, {}), (DEPLOYMENT, {"parallelism.default": "3"})]
)
def test_each_form_gives_the_same_options(text: str, more: dict[str, str], tmp_path: Path) -> None:
    """Known options are the change, others are listed, and only a deployment sets subtasks."""
    found = read_configuration(written(tmp_path, text))
    assert found.change == WANTED | more
    assert found.others == ("jobmanager.rpc.address",)
    assert "jobmanager.rpc.address" in next(found.notes)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no option"),
        ("a:\n  - [b", "line 2"),
        ("apiVersion: v1\nkind: Service", "'Service', expected a FlinkDeployment"),
        (DEPLOYMENT + "---\n" + DEPLOYMENT.partition("---\n")[2], "2 of FlinkDeployment"),
        ("a:\n  !!python/object/apply:os.system [ls]", "no YAML"),
        ("a:\n" + "".join(f"{' ' * n}a:\n" for n in range(1, 40)), "at most 20 levels"),
    ],
)
def test_a_file_without_options_is_refused(text: str, says: str, tmp_path: Path) -> None:
    """A file that is none is refused with its place, and no tag of it is carried out."""
    with pytest.raises(UserError, match=says):
        read_configuration(written(tmp_path, text))


def test_whatif_takes_a_file_and_lists_the_rest(tmp_path: Path, capsys: Captured) -> None:
    """The variant has the file's name, options override it, and its restart delay counts."""
    place = str(written(tmp_path, FLAT))
    words = ["whatif", "orders", "--conf", place, "--set", "execution.checkpointing.interval=9 s"]
    assert main([*words, "--failure", "join", "--seeds", "1"]) == 0
    printed = capsys.readouterr().out
    assert "conf.yaml, interval=9 s" in printed
    assert "restarted after 7 s" in printed
    assert "conf.yaml: the simulation does not know jobmanager.rpc.address" in printed
    assert "parallelism.default is for jobs that set none" in " ".join(printed.split())


def test_a_wrong_value_names_the_file(tmp_path: Path, capsys: Captured) -> None:
    """A value that cannot be is refused with the file and the option."""
    place = written(tmp_path, "execution.checkpointing.interval: soon\n")
    assert main(["whatif", "orders", "--conf", str(place)]) == 2
    error = capsys.readouterr().err
    assert 'conf.yaml: execution.checkpointing.interval: found "soon"' in error
