"""A learned locator that one can see through: one weight a feature."""

import json
from collections.abc import Mapping

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from inference.fields.learned import FORMAT, METADATA, PRIOR


def locator_bytes(fields: Mapping[str, Mapping[str, float]], prior_share: float = 0.0) -> bytes:
    """A graph that scores each field by weights of features; "bias" is added, PRIOR is the prior's own score."""
    names = sorted({name for weights in fields.values() for name in weights if name != "bias"} | {PRIOR})
    nodes, constants, outputs, described = [], [], [], {}
    for number, (path, weights) in enumerate(fields.items()):
        own = [[weights.get(name, 0.0)] for name in names]
        column = np.array([*own, *([[0.0]] * (len(names) + 1))], dtype=np.float32)
        bias = np.array([weights.get("bias", 0.0)], dtype=np.float32)
        constants += [numpy_helper.from_array(column, f"w{number}"), numpy_helper.from_array(bias, f"b{number}")]
        nodes.append(helper.make_node("MatMul", ["rows", f"w{number}"], [f"m{number}"]))
        nodes.append(helper.make_node("Add", [f"m{number}", f"b{number}"], [f"o{number}"]))
        outputs.append(helper.make_tensor_value_info(f"o{number}", TensorProto.FLOAT, [None, 1]))
        described[path] = {"output": f"o{number}", "prior_share": prior_share}
    rows = helper.make_tensor_value_info("rows", TensorProto.FLOAT, [None, 2 * len(names) + 1])
    graph = helper.make_graph(nodes, "locator", [rows], outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    stored = json.dumps({"format": FORMAT, "features": names, "fields": described})
    helper.set_model_props(model, {METADATA: stored})
    return bytes(model.SerializeToString())
