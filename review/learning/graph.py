"""Boosted trees of several fields as one ONNX graph, as `inference.fields.learned` reads it."""

import json
from collections.abc import Mapping, Sequence

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, checker, helper
from skl2onnx import to_onnx
from sklearn.ensemble import GradientBoostingClassifier

from inference.fields.learned import FORMAT, METADATA

_ROWS = "rows"
_OPSETS = {"": 17, "ai.onnx.ml": 1}
_IR_VERSION = 8


def bundle(
    trees: Mapping[str, tuple[GradientBoostingClassifier, float]], features: Sequence[str], n_columns: int
) -> bytes:
    """Return one graph for fields by path: the trees of each, and the share in 0-1 that the prior keeps in its score.

    The same trees make the same bytes.
    """
    nodes, outputs, described = [], [], {}
    for number, (path, (model, prior_share)) in enumerate(sorted(trees.items())):
        output = f"log_odds_{number}"
        nodes.append(_node(model, number, output, n_columns))
        outputs.append(helper.make_tensor_value_info(output, TensorProto.FLOAT, [None, 2]))
        described[path] = {"output": output, "prior_share": prior_share}
    rows = helper.make_tensor_value_info(_ROWS, TensorProto.FLOAT, [None, n_columns])
    graph = helper.make_graph(nodes, "locator", [rows], outputs)
    opsets = [helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()]
    made: ModelProto = helper.make_model(graph, producer_name="stet", opset_imports=opsets, ir_version=_IR_VERSION)
    stored = {"format": FORMAT, "features": list(features), "fields": described}
    helper.set_model_props(made, {METADATA: json.dumps(stored, sort_keys=True)})
    checker.check_model(made)
    return bytes(made.SerializeToString(deterministic=True))


def _node(model: GradientBoostingClassifier, number: int, output: str, n_columns: int) -> NodeProto:
    """Return the trees of one field as a node whose second output is (against, for) in log-odds."""
    example = np.zeros((1, n_columns), dtype=np.float32)
    options = {id(model): {"raw_scores": True, "zipmap": False}}
    converted: ModelProto = to_onnx(model, example, options=options, target_opset=_OPSETS)
    node: NodeProto
    (node,) = (one for one in converted.graph.node if one.op_type == "TreeEnsembleClassifier")
    node.name = f"trees_{number}"
    del node.input[:], node.output[:]
    node.input.append(_ROWS)
    node.output.extend([f"label_{number}", output])
    return node
