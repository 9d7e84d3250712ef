"""Running out of memory, recognised by the text of the error."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, Role, rule
from porter_rules.nodes import string_value
from porter_rules.telling import is_telling

_SAID = ("raise", "statement", "formatted")
_EXPECTING = frozenset({"add_argument", "fail", "skip", "skipif", "assertRaisesRegex", "raises"})
_SEARCHING = frozenset({"startswith", "endswith", "find", "index", "count", "search", "match"})
_ERROR_TEXT = (
    "looks for the text of an error of CUDA, which other accelerators word differently: catch the "
    "exception's class (RuntimeError, accel.OutOfMemoryError), or look for their texts as well"
)


@rule(
    "PTR602",
    on=(cst.Comparison, cst.SimpleString),
    needs=(),
    rewrites=[
        (
            'try:\n    f()\nexcept Exception as e:\n    if "out of memory" in str(e): g()\n',
            "try:\n    f()\nexcept Exception as e:\n    if accel.is_out_of_memory(e): g()\n",
        ),
        (
            'oom = "CUDA out of memory" not in str(e)\n',
            "oom = not accel.is_out_of_memory(e)\n",
        ),
        (
            'if "out of memory" in str(error).lower():\n    g()\n',
            "if accel.is_out_of_memory(error):\n    g()\n",
        ),
        (
            'if "CUDA out of memory. " in e.args[0]:\n    g()\n',
            "if accel.is_out_of_memory(e):\n    g()\n",
        ),
        (
            'if "out of memory" in str(e.args[0]):\n    g()\n',
            "if accel.is_out_of_memory(e):\n    g()\n",
        ),
        (
            'if isinstance(e, RuntimeError) and "out of memory" in repr(e):\n    g()\n',
            "if isinstance(e, RuntimeError) and accel.is_out_of_memory(e):\n    g()\n",
        ),
        (
            'if not ("out of memory" in str(e)):\n    raise\n',
            "if not (accel.is_out_of_memory(e)):\n    raise\n",
        ),
    ],
    manual=[
        'texts = ["CUDA out of memory.", "DefaultCPUAllocator: can\'t allocate memory"]\n',
        'oom = str(e).startswith("CUDA out of memory")\n',
        'oom = str(e) == "CUDA out of memory."\n',
        'if "CUDA error: out of memory" in log_text:\n    pass\n',
        'if "CUDA error" in str(e):\n    pass\n',
        'oom = str(e).startswith("CUDA error")\n',
        'if "CUDA" in e.args[0]:\n    pass\n',
        'oom = "out of memory on {}".format(device) == str(e)\n',
        'import re\noom = re.search("out of memory", str(e))\n',
    ],
    valid=[
        'print("CUDA out of memory")\n',
        'raise RuntimeError("CUDA out of memory: try a smaller batch")\n',
        'logger.warning("out of memory, retrying with cuda graphs off")\n',
        'text = "ran out of memory: {}".format(e)\n',
        'text = "CUDA out of memory: " + str(e)\n',
        'def f():\n    "Retry when CUDA is out of memory."\n',
    ],
)
def oom_message(original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context) -> Outcome:
    """Recognise an out-of-memory error on every accelerator, not by CUDA's words.

    An Ascend NPU says "NPU out of memory": a test for "CUDA out of memory" turns an error that
    was handled into a crash. `"..." in str(e)` becomes `accel.is_out_of_memory(e)`, which knows
    the class and the text; on CUDA it is true wherever the old test was. Texts that are compared
    in another way, or collected in a list, are left to a person.
    """
    if isinstance(original, cst.SimpleString):
        return _elsewhere(original, ctx)
    assert isinstance(original, cst.Comparison)
    text = string_value(original.left)
    if text is None or len(original.comparisons) != 1:
        return None
    operator = original.comparisons[0].operator
    if not isinstance(operator, cst.In | cst.NotIn):
        return None
    lowered = text.lower()
    error = _error(original.comparisons[0].comparator)
    if "out of memory" in lowered and error is not None:
        test = ctx.runtime_call("is_out_of_memory", error)
        if isinstance(operator, cst.In):
            return test
        return cst.UnaryOperation(cst.Not(), test)
    if "out of memory" in lowered:
        return Manual(
            "tests a text for CUDA's out-of-memory message, which other accelerators word "
            "differently: test the exception itself with accel.is_out_of_memory(...)"
        )
    if "cuda error" in lowered or (lowered.startswith("cuda") and error is not None):
        return Manual(_ERROR_TEXT)
    return None


def _elsewhere(original: cst.SimpleString, ctx: Context) -> Outcome:
    text = (string_value(original) or "").lower()
    parent = ctx.parent
    if isinstance(parent, cst.Comparison) and isinstance(
        parent.comparisons[0].operator, cst.In | cst.NotIn
    ):
        return None  # the comparison speaks
    role = ctx.role(original)
    called = role.callee.rpartition(".")[2]
    if _is_made_into_another(role, ctx):
        return None
    if role.kind in _SAID or is_telling(role.callee) or called in _EXPECTING:
        return None
    if "out of memory" in text:
        return Manual(
            "a text of CUDA's out-of-memory error, which other accelerators word differently: "
            "test the exception with accel.is_out_of_memory(...) instead of its text"
        )
    return Manual(_ERROR_TEXT) if "cuda error" in text and called in _SEARCHING else None


def _is_made_into_another(role: Role, ctx: Context) -> bool:
    """Whether a text is made of this one for people: `"... {}".format(e)`, `"..." + str(e)`."""
    made = isinstance(ctx.parent, cst.BinaryOperation) or role == Role("receiver", name="format")
    return made and not any(isinstance(node, cst.Comparison) for node in ctx.stack)


def _error(text: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return the exception whose text this is: `str(e)`, `repr(e)`, `e.args[0]`, lowered or not."""
    match text:
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name("lower" | "upper")), args=[]):
            return _error(inner)
        case cst.Call(func=cst.Name("str" | "repr"), args=[cst.Arg(value=cst.Name() as error)]):
            return error
        case cst.Call(func=cst.Name("str" | "repr"), args=[cst.Arg(value=inner)]):
            return _error(inner)
        case cst.Subscript(
            value=cst.Attribute(value=cst.Name() as error, attr=cst.Name("args")),
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))],
        ):
            return error
    return None
