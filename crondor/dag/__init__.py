"""DAG files: the nodes of a workflow as DAGMan reads them."""

from crondor.dag.reader import Dag, DagLimits, Node, read_dag

__all__ = ["Dag", "DagLimits", "Node", "read_dag"]
