"""Makes a site of the pages in docs/, which are written to be read in the repository, too.

Links that lead out of docs/ would be dead on the site: a header leads to its page in the C++ reference, a
picture or another file is copied into the site, and a folder becomes plain text. A link to a file that does
not exist fails the build, and so does a page that the navigation lacks.
"""

import os
import pathlib
import re

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
API = ROOT / "build" / "docs" / "api" / "html"
MERMAID = ROOT / "site" / "node_modules" / "mermaid" / "dist" / "mermaid.min.js"
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
CODE = re.compile(r"^```(\w*) ?([^\n]*)(\n.*?^```)", re.MULTILINE | re.DOTALL)

def _api_page(header):
    # Doxygen's name for the page of a file.
    name = header.replace("_", "__").replace(".", "_8")
    return f"api/{name}.html"


def _add(files, config, path, source):
    if files.get_file_from_path(path) is None:
        file = File(path, str(ROOT), config["site_dir"], False)
        file.abs_src_path = str(source)
        files.append(file)


def _link(match, page, files, config):
    bang, text, target = match.groups()
    if re.match(r"[a-z]+:|#", target):
        return match.group()
    path, _, anchor = target.partition("#")
    found = (DOCS / page).parent.joinpath(path).resolve()
    if not found.exists():
        raise PluginError(f"docs/{page}: {target} does not exist")
    if found.is_dir():
        return text
    if DOCS in found.parents:
        return match.group()
    inside = found.relative_to(ROOT).as_posix()
    up = "../" * page.count("/")
    if inside.startswith("include/ebb/"):
        return f"[{text}]({up}{_api_page(found.name)})"
    # A page outside of docs/ has links of its own, so it is shown as text.
    shown = f"source/{inside}" + ("" if inside.endswith((".svg", ".png")) else ".txt")
    _add(files, config, shown, found)
    return f"{bang}[{text}]({up}{shown})"


def on_files(files, config):
    css = pathlib.Path(__file__).with_name("site.css")
    _add(files, config, "site.css", css)
    if not API.is_dir() or not MERMAID.is_file():
        raise PluginError(f"{API} or {MERMAID} does not exist: ./dev docs makes both")
    _add(files, config, "mermaid.min.js", MERMAID)
    for path in sorted(API.rglob("*")):
        if path.is_file():
            _add(files, config, "api/" + path.relative_to(API).as_posix(), path)
    return files


def on_nav(nav, config, files):
    known = {page.file.src_path for page in nav.pages}
    missing = [file.src_path for file in files.documentation_pages() if file.src_path not in known]
    if missing:
        raise PluginError(f"site/mkdocs.yml: nav lacks {', '.join(missing)}")
    return nav


def on_page_markdown(markdown, page, config, files):
    pieces, last = [], 0
    for block in CODE.finditer(markdown):
        # The name of the file that the block holds: ```yaml order.yaml
        language, name, rest = block.groups()
        title = f' title="{name}"' if name else ""
        pieces += [(markdown[last : block.start()], True), (f"```{language}{title}{rest}", False)]
        last = block.end()
    pieces.append((markdown[last:], True))
    return "".join(
        LINK.sub(lambda match: _link(match, page.file.src_path, files, config), text) if is_prose else text
        for text, is_prose in pieces
    )


def on_post_page(output, page, config):
    # Few pages need its three megabytes.
    if '<div class="diagram">' not in output:
        return output
    up = "../" * page.file.src_path.count("/")
    run = "mermaid.initialize({startOnLoad: false}); mermaid.run({querySelector: '.diagram'});"
    scripts = f'<script src="{up}mermaid.min.js"></script><script>{run}</script>'
    return output.replace("</body>", f"{scripts}</body>", 1)
