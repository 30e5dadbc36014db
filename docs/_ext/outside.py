"""Links that leave docs/, such as to ../examples: right on a host of code, plain text on the site.

They have to lead to something in the repository, else they are left to warn as any dead link.
"""

from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform


class OutsideLinks(SphinxPostTransform):
    """Puts the text of a link that leaves the folder of the pages in place of the link."""

    default_priority = 5  # before MyST looks for a page

    def run(self, **_: object) -> None:
        """Look at each link of one page."""
        for link in list(self.document.findall(addnodes.pending_xref)):
            if self._leads_outside(link):
                text = nodes.inline("", "", *link.children)
                link.replace_self(text)

    def _leads_outside(self, link: addnodes.pending_xref) -> bool:
        if link.get("reftype") != "myst":
            return False
        pages = Path(self.env.srcdir)
        if link.get("refdomain") == "doc":
            target = pages / f"{link['reftarget']}.md"
        else:
            target = (pages / self.env.docname).parent / link["reftarget"]
        target = target.resolve()
        return target.exists() and not target.is_relative_to(pages)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register what this file is for."""
    app.add_post_transform(OutsideLinks)
    return {"parallel_read_safe": True}
