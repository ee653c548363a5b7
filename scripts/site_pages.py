"""Gives MkDocs the pages that lie outside `docs`: README.md is the first one of the site."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

LOG = logging.getLogger("mkdocs.hooks.site_pages")

ROOT = Path(__file__).resolve().parent.parent
PAGES = {
    "README.md": "index.md",
    **{name: name.lower() for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")},
}
"""Files of the root, and what they are called in the site."""

FOLDERS = ("notebooks", "examples/analysis_plugin", "examples/method_plugin")
"""What pages link to as folders: a site cannot show these, so the links lead to the first file of each."""

LOADED = re.compile(r"""<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=["']?(?:https?:)?//[^"'> ]*""")
"""What a browser would fetch from elsewhere, without being asked."""


def on_files(files: Files, config: Any) -> Files:
    """Add the pages of the root."""
    for name, called in PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        text = re.sub(r'(\]\(|src=")docs/', r"\1", text)
        for other, there in PAGES.items():
            text = text.replace(f"]({other})", f"]({there})")
        files.append(File.generated(config, called, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Lead links out of `docs` to the pages of the root, and links to folders to a file in them."""
    for name, called in PAGES.items():
        markdown = markdown.replace(f"](../{name}", f"]({called}")
    for folder in FOLDERS:
        first = next(path for path in sorted((ROOT / "docs" / folder).iterdir()) if path.is_file())
        markdown = markdown.replace(f"]({folder})", f"]({folder}/{first.name})")
    return markdown


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Warn, and so end a strict build, where a page would load something from elsewhere."""
    for found in LOADED.findall(output):
        LOG.warning("%s loads something from elsewhere: %s", page.file.src_uri, found)
    return output
