"""Word documents as tests make them: from the markup of their parts."""

from __future__ import annotations

import io
import zipfile

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
NAMES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    f'xmlns:r="{OFFICE}" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:v="urn:schemas-microsoft-com:vml"'
)


def run(text, marks=""):
    return f'<w:r>{f"<w:rPr>{marks}</w:rPr>" if marks else ""}<w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*inside):
    return f"<w:p>{''.join(one if one.startswith('<') else run(one) for one in inside)}</w:p>"


def word(body, parts=(), more=None, main="document.main+xml"):
    """A Word document.

    Args:
        body: the markup in the body.
        parts: tuples of a relation's kind, such as "header", and the markup in its root; their relations are
            rId1, rId2, ...
        more: further members of the archive, by name.
        main: the end of the content type of the document.
    """
    roots = {"header": "hdr", "footer": "ftr"}
    overrides = f'<Override PartName="/word/document.xml" ContentType="{TYPE}.{main}"/>'
    relations, members = "", {}
    for number, (kind, inside) in enumerate(parts, 1):
        path, root = f"{kind}{number}.xml", roots.get(kind, kind)
        overrides += f'<Override PartName="/word/{path}" ContentType="{TYPE}.{kind}+xml"/>'
        relations += f'<Relationship Id="rId{number}" Type="{OFFICE}/{kind}" Target="{path}"/>'
        members[f"word/{path}"] = f"<w:{root} {NAMES}>{inside}</w:{root}>"
    rels = "application/vnd.openxmlformats-package.relationships+xml"
    defaults = f'<Default Extension="rels" ContentType="{rels}"/>'
    defaults += '<Default Extension="xml" ContentType="application/xml"/>'
    top = f'<Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="word/document.xml"/>'
    document = f"<w:document {NAMES}><w:body>{body}</w:body></w:document>"
    members |= {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">{defaults}{overrides}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{top}</Relationships>',
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{relations}'
        "</Relationships>",
        "word/document.xml": document,
        **(more or {}),
    }
    return zipped(members)


def zipped(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()
