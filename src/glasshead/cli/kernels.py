"""glasshead kernels: compile the native kernel."""

import typer

from glasshead.cli.app import BUILD_AND_TRAIN, app
from glasshead.cli.console import print_line
from glasshead.cli.progress import progress_stages

kernels = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")
app.add_typer(
    kernels,
    name="kernels",
    rich_help_panel=BUILD_AND_TRAIN,
)


@kernels.callback()
def group() -> None:
    """Compile the native kernel, which makes TanhMax on a CPU as fast as softmax.

    Example: [bold]glasshead kernels build[/]
    """


@kernels.command()
def build() -> None:
    """Compile the native kernel for the instructions of this processor, once for each version of torch.

    Needs a C++ compiler and ninja (pip install 'glasshead\\[native]'), and a minute or two. From then on it
    is chosen automatically where it is faster. GLASSHEAD_CACHE names another folder for the compiled code.

    Example: [bold]glasshead kernels build[/]
    """
    from glasshead.attention import build_native
    from glasshead.compiled import list_compiled_capabilities

    before = list_compiled_capabilities()
    with progress_stages("native kernel") as progress:
        paths = build_native(progress=progress)
    already = "Already compiled" if list_compiled_capabilities() == before else "Compiled"
    print_line(f"{already} for {', '.join(list_compiled_capabilities())}: {paths[0].parent}")
