"""The type stubs have the functions, the methods and the arguments of the package."""

import ast
import inspect
import pathlib

import tailback

TREE = ast.parse((pathlib.Path(tailback.__file__).parent / "__init__.pyi").read_text(encoding="utf-8"))


def described(nodes):
    """Arguments of the functions among the nodes by name; None for a property."""
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    return {node.name: None if node.decorator_list else [it.arg for it in node.args.args] for node in functions}


def real(owner, names):
    """The same of an object, for functions that are public or named."""
    found = {}
    for name, it in vars(owner).items():
        if name.startswith("_") and name not in names:
            continue
        if isinstance(it, property):
            found[name] = None
        elif inspect.isroutine(it):
            found[name] = list(inspect.signature(it).parameters)
    return found


def test_functions_have_their_arguments():
    stubs = described(TREE.body)
    functions = {name for name in tailback.__all__ if inspect.isroutine(getattr(tailback, name))}
    assert set(stubs) == functions
    for name in functions:
        assert stubs[name] == list(inspect.signature(getattr(tailback, name)).parameters), name


def test_classes_have_their_methods():
    classes = {node.name: node for node in TREE.body if isinstance(node, ast.ClassDef)}
    assert {name for name in tailback.__all__ if inspect.isclass(getattr(tailback, name))} <= set(classes)
    for name, node in classes.items():
        if name == "Rows" or issubclass(getattr(tailback, name), Exception):
            continue
        stubs = described(node.body)
        assert stubs == real(getattr(tailback, name), stubs), name
