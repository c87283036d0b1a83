"""aiplan: a capacity planner for AI training clusters. `load`, `estimate` and `search` are the library."""

TYPE_CHECKING = False  # checkers take it for true; typing itself would be loaded by whatever imports the package
if TYPE_CHECKING:
    from aiplan.api import estimate, load, search

__version__ = "0.1.0"
__all__ = ["__version__", "estimate", "load", "search"]


def __getattr__(name: str) -> object:
    """Load the library when it is used: the command line starts without it."""
    if name in __all__:
        from importlib import import_module  # noqa: PLC0415

        return getattr(import_module("aiplan.api"), name)
    raise AttributeError(f"module 'aiplan' has no attribute '{name}'")
