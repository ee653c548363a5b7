"""Word documents: what people read, and nothing else in any part."""

from __future__ import annotations

import io
import struct
import zipfile

import docx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.documents.formats import package
from anonymizer.documents.formats.word import WordDocuments
from anonymizer.documents.texts.edits import Edit
from anonymizer.errors import FileError
from tests.anonymizer.documents.formats.looks import PARAGRAPHS, edits_of, gone, solid, stands
from tests.anonymizer.documents.formats.words import NAMES, paragraph, run, word, zipped

WORD = WordDocuments()
BOX = "<w:txbxContent>{}</w:txbxContent>"


def opened(body, parts=(), more=None):
    return WORD.open("a.docx", word(body, parts, more))


def table(*rows):
    cells = ["".join(f"<w:tc>{cell}</w:tc>" for cell in row) for row in rows]
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (paragraph("An", run("na", "<w:b/>"), " lives") + paragraph("here"), "Anna lives\nhere"),
        (
            paragraph("<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:cr/><w:t>d</w:t></w:r>"),
            "a\tb\nc\nd",
        ),
        (paragraph("<w:r><w:t>well</w:t><w:noBreakHyphen/><w:t>known</w:t></w:r>"), "well-known"),
        (paragraph("<w:r><w:t>Nico</w:t><w:softHyphen/><w:t>sia</w:t></w:r>"), "Nicosia"),
        (paragraph("Nico\u00adsia"), "Nicosia"),
        (paragraph("<w:r><w:t> a </w:t></w:r>", "b"), "ab"),
        (table([paragraph("a"), paragraph("b") + table([paragraph("c")])], [paragraph("d")]), "a\nb\nc\nd"),
        (paragraph("<w:hyperlink r:id='rId9'><w:r><w:t>An</w:t></w:r></w:hyperlink>", "na"), "Anna"),
        (paragraph("<w:ins w:author='x'><w:r><w:t>new</w:t></w:r></w:ins>", "er"), "newer"),
        (f"<w:sdt><w:sdtContent>{paragraph('a')}</w:sdtContent></w:sdt>", "a"),
        (paragraph("x", f"<w:sdt><w:sdtContent>{run('a')}</w:sdtContent></w:sdt>", "y"), "xay"),
        (paragraph("x", f"<w:smartTag w:element='City'>{run('a')}</w:smartTag>", "y"), "xay"),
        (
            paragraph(
                f"<w:r><w:ruby><w:rt>{run('と')}</w:rt><w:rubyBase>{run('東')}</w:rubyBase></w:ruby></w:r>",
                "京",
            ),
            "東京",
        ),
        (paragraph("a", run("b", "<w:vanish w:val='0'/>")), "ab"),
        (
            paragraph(
                "a", f"<w:r><w:pict><v:textbox>{BOX.format(paragraph('box'))}</v:textbox></w:pict></w:r>", "b"
            ),
            "ab\nbox",
        ),
        (
            paragraph(
                "<w:r><mc:AlternateContent><mc:Choice><w:drawing><wps:txbx>"
                f"{BOX.format(paragraph('box'))}</wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict>"
                f"{BOX.format(paragraph('box'))}</w:pict></mc:Fallback></mc:AlternateContent></w:r>",
                "a",
            ),
            "a\nbox",
        ),
        (
            paragraph(
                "<w:r><w:fldChar w:fldCharType='begin'/></w:r>",
                "<w:r><w:instrText>HYPERLINK x</w:instrText></w:r>",
                run("not seen"),
                "<w:r><w:fldChar w:fldCharType='separate'/></w:r>",
                "seen",
                "<w:r><w:fldChar w:fldCharType='end'/></w:r>",
                " too",
            ),
            "seen too",
        ),
    ],
)
def test_the_text_is_what_people_read(body, text):
    one = opened(body)
    assert one.text == text
    stands(WORD, one)


def test_headers_footers_and_notes_are_read():
    first = "<w:headerReference w:type='default' r:id='rId1'/><w:footerReference w:type='first' r:id='rId2'/>"
    note = "<w:r><w:footnoteReference w:id='{}'/></w:r>"
    one = opened(
        paragraph(
            "Body",
            note.format(7),
            " goes",
            note.format(3),
            " on",
            "<w:r><w:endnoteReference w:id='2'/></w:r>",
        )
        + f"<w:sectPr>{first}<w:titlePg/></w:sectPr>",
        [
            ("header", paragraph("Atop")),
            ("footer", paragraph("Foot")),
            (
                "footnotes",
                f"<w:footnote w:id='-1' w:type='separator'>{paragraph('Secret')}</w:footnote>"
                f"<w:footnote w:id='3'>{paragraph('three')}</w:footnote>"
                f"<w:footnote w:id='5'>{paragraph('Secret')}</w:footnote>"
                f"<w:footnote w:id='7'>{paragraph('<w:r><w:footnoteRef/></w:r>', 'seven')}</w:footnote>",
            ),
            ("endnotes", f"<w:endnote w:id='2'>{paragraph('two')}</w:endnote>"),
        ],
    )
    assert one.text == "Body goes on\nAtop\nFoot\nseven\nthree\ntwo"
    stands(WORD, one)
    gone(WORD, one, edits_of(one.text, ["Atop", "seven", "two"], "put"), ["Atop", "seven", "two", "Secret"])
    again = docx.Document(io.BytesIO(one.apply_edits(())))
    assert again.sections[0].header.paragraphs[0].text == "Atop"
    assert again.sections[0].first_page_footer.paragraphs[0].text == "Foot"


def test_headers_of_even_pages_stay_where_they_are():
    body = paragraph("a") + "<w:sectPr><w:headerReference w:type='even' r:id='rId1'/></w:sectPr>"
    parts = [
        ("header", paragraph("even")),
        ("settings", "<w:evenAndOddHeaders/><w:rsids><w:rsid w:val='00Secret'/></w:rsids>"),
    ]
    one = opened(body, parts)
    assert one.even
    stands(WORD, one)
    gone(WORD, one, (), ["Secret"])


def test_marks_tables_and_styles_stay():
    made = docx.Document()
    made.add_heading("Title", 1)
    made.add_paragraph("a").add_run("b").bold = True
    grid = made.add_table(2, 3)
    grid.cell(0, 0).merge(grid.cell(0, 1)).text = "wide"
    grid.cell(0, 2).merge(grid.cell(1, 2)).text = "high"
    file = io.BytesIO()
    made.save(file)
    one = WORD.open("a.docx", file.getvalue())
    stands(WORD, one)
    again = docx.Document(io.BytesIO(one.apply_edits(())))
    assert again.paragraphs[0].style.name == "Heading 1"
    assert [bool(part.bold) for part in again.paragraphs[1].runs] == [False, True]
    cells = again.tables[0]
    assert cells.cell(0, 0).text == cells.cell(0, 1).text == "wide"
    assert cells.cell(1, 2).text == "high"


HIDDEN = [
    (paragraph("<w:del w:author='Secret'><w:r><w:delText>Secret</w:delText></w:r></w:del>"), "tracked"),
    (paragraph(f"<w:del>{run('Secret')}</w:del>"), "tracked"),
    (paragraph(f"<w:moveFrom>{run('Secret')}</w:moveFrom>"), "tracked"),
    (f"<w:tbl><w:tr><w:trPr><w:del/></w:trPr><w:tc>{paragraph('Secret')}</w:tc></w:tr></w:tbl>", "tracked"),
    (
        f"<w:tbl><w:tr><w:tc><w:tcPr><w:cellDel/></w:tcPr>{paragraph('Secret')}</w:tc></w:tr></w:tbl>",
        "tracked",
    ),
    (paragraph("<w:ins w:author='Secret' w:date='Secret'><w:r><w:t>x</w:t></w:r></w:ins>"), ""),
    (paragraph(run("Secret", "<w:vanish/>")), "hidden"),
    (
        "<w:p w:rsidR='00Secret' w:rsidRDefault='00Secret'><w:r w:rsidR='00Secret'><w:t>x</w:t></w:r></w:p>",
        "",
    ),
    (paragraph("<w:bookmarkStart w:id='0' w:name='Secret'/>"), ""),
    (paragraph(f"<w:hyperlink w:anchor='Secret' w:tooltip='Secret'>{run('x')}</w:hyperlink>"), "Addresses"),
    (paragraph(f"<w:fldSimple w:instr='AUTHOR Secret'>{run('x')}</w:fldSimple>"), "fields"),
    (paragraph(run("x", "<w:rStyle w:val='Secret'/><w:lang w:val='Secret'/><w:color w:val='Secret'/>")), ""),
    (paragraph(run("x", "<w:rPrChange w:author='Secret'/>")), ""),
    ("<w:p><w:pPr><w:pStyle w:val='Secret'/><w:jc w:val='Secret'/></w:pPr></w:p>", ""),
    ("<w:p><w:pPr><w:numPr><w:numId w:val='3'/></w:numPr></w:pPr></w:p>", "Numbers and bullets"),
    (paragraph("<w:r><w:drawing><x descr='Secret' name='Secret'>Secret</x></w:drawing></w:r>"), "Images"),
    (paragraph("<w:r><w:object><x ProgID='Secret'/></w:object></w:r>"), "Images"),
    (paragraph("<m:oMath><m:r><m:t>Secret</m:t></m:r></m:oMath>"), "Formulas"),
    (paragraph("<w:r><w:sym w:font='Secret' w:char='F0A7'/></w:r>"), "symbol"),
    ("<w:altChunk r:id='Secret'/>", "imported"),
    (paragraph("<w:commentRangeStart w:id='1'/><w:r><w:commentReference w:id='1'/></w:r>"), "Comments"),
    (
        "<w:sdt><w:sdtPr><w:tag w:val='Secret'/></w:sdtPr><w:sdtContent><w:p/></w:sdtContent></w:sdt>",
        "",
    ),
    (f"<w:customXml w:element='Secret'>{paragraph('x')}</w:customXml>", ""),
    ("<!-- Secret --><?Secret x?>", ""),
    ("<w:sectPr><w:pgSz w:w='Secret' w:orient='Secret'/><w:pgMar w:top='Secret'/></w:sectPr>", ""),
    (paragraph("<w:r><w:tab w:Secret='x'/><w:t w:Secret='x' Secret='x'>y</w:t></w:r>"), ""),
]


@pytest.mark.parametrize(("body", "said"), HIDDEN)
def test_what_people_do_not_read_is_left_out_and_said(body, said):
    one = opened(paragraph("text") + body)
    gone(WORD, one, (), ["Secret"])
    assert said in " ".join(one.dropped)
    stands(WORD, one)


MEMBERS = [
    ("docProps/core.xml", "Properties"),
    ("docProps/custom.xml", "Properties"),
    ("docProps/thumbnail.jpeg", "Properties"),
    ("word/comments.xml", "Comments"),
    ("word/people.xml", "Comments"),
    ("word/media/Secret.png", "Images"),
    ("word/embeddings/Secret.bin", "Images"),
    ("customXml/item1.xml", "custom XML"),
    ("word/glossary/document.xml", "Building blocks"),
    ("word/vbaProject.bin", "Macros"),
    ("Secret/unknown.bin", ""),
]


@pytest.mark.parametrize(("path", "said"), MEMBERS)
def test_other_parts_are_left_out_and_said(path, said):
    one = opened(paragraph("text"), more={path: "<x>Secret</x>"})
    gone(WORD, one, (), ["Secret", path])
    assert said in " ".join(one.dropped)
    stands(WORD, one)
    with zipfile.ZipFile(io.BytesIO(one.apply_edits(()))) as archive:
        assert archive.comment == b""
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_all_properties_of_a_real_file_are_gone():
    made = docx.Document()
    made.core_properties.author = made.core_properties.comments = "Xanthippe"
    made.add_comment(made.add_paragraph("text").runs, "Xanthippe wrote", "Xanthippe", "X")
    file = io.BytesIO()
    made.save(file)
    one = WORD.open("a.docx", file.getvalue())
    gone(WORD, one, (), ["Xanthippe", "python-docx", "2013"])
    assert {"Comments.", "Data that programs have put into the file (custom XML)."} < set(one.dropped)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "not a Word document"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "encrypted, or of an old kind"),
        (b"PK\x03\x04 broken", "not a Word document"),
        (zipped({"a.txt": "x"}), "broken Word document"),
        (word("<w:p>"), "broken Word document"),
        (word(""), "holds no text"),
        (word(paragraph()), "holds no text"),
        (word(paragraph("a"), main="document.macroEnabled.main+xml"), "of a kind that cannot be read"),
        (word(paragraph("a") + "<w:sectPr><w:headerReference r:id='rId5'/></w:sectPr>"), "broken"),
        (
            word(f"{'<w:sdt><w:sdtContent>' * 90}{paragraph('a')}{'</w:sdtContent></w:sdt>' * 90}"),
            "nested deeper",
        ),
        (word(paragraph(*[f"<w:smartTag>{run('a')}" * 90 + "</w:smartTag>" * 90])), "nested deeper"),
    ],
)
def test_what_cannot_be_read_is_refused(data, what):
    with pytest.raises(FileError, match=what):
        WORD.open("a.docx", data)


def test_entities_are_refused_and_not_resolved():
    bomb = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
    text = f'<!DOCTYPE w:document [<!ENTITY e0 "Secret">{bomb}]><w:document {NAMES}>'
    text += f"<w:body>{paragraph('&e9;')}</w:body></w:document>"
    with pytest.raises(FileError, match=r"not of a Word document|broken") as problem:
        opened(paragraph("a"), more={"word/document.xml": text})
    assert "Secret" not in str(problem.value)


def test_bombs_are_refused_before_they_are_unpacked(monkeypatch):
    data = word(paragraph("a"), more={"word/media/zeros.bin": bytes(5_000_000)})
    assert len(data) < 10_000
    monkeypatch.setattr(package, "BYTES", 4_000_000)
    with pytest.raises(FileError, match="when unpacked"):
        WORD.open("a.docx", data)
    monkeypatch.setattr(package, "BYTES", 6_000_000)
    monkeypatch.setattr(package, "MEMBERS", 4)
    with pytest.raises(FileError, match="more than 4 parts"):
        WORD.open("a.docx", data)


def test_a_size_that_lies_does_not_unpack_more():
    data = word(paragraph("a" * 50_000))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        size = archive.getinfo("word/document.xml").file_size
    lying = data.replace(struct.pack("<L", size), struct.pack("<L", 100))
    assert lying != data
    with pytest.raises(FileError, match="broken"):
        WORD.open("a.docx", lying)


def test_two_parts_of_one_name_are_refused():
    file = io.BytesIO(word(paragraph("a")))
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(file, "a") as archive:
        archive.writestr("word/document.xml", "<x/>")
    with pytest.raises(FileError, match="two parts of one name"):
        WORD.open("a.docx", file.getvalue())


@pytest.mark.parametrize("place", range(0, 1500, 71))
def test_a_damaged_file_is_an_error_of_ours(place):
    data = bytearray(word(paragraph("Anna")))
    data[place % len(data)] ^= 0x55
    try:
        WORD.open("a.docx", bytes(data))
    except FileError as problem:
        assert "Anna" not in str(problem)  # noqa: PT017


def test_tabs_and_lines_of_a_replacement_become_blanks():
    one = opened(paragraph("Anna"))
    data = one.apply_edits([Edit(0, 4, "a\tb\nc", "person", "hide")])
    assert WORD.open("b.docx", data).text == "a b c"


def test_what_a_reader_overlooks_is_in_the_strings():
    body = paragraph("An", "na", "<w:r><w:instrText>field</w:instrText></w:r>")
    body += "<w:p w:rsidR='00AB12'><w:bookmarkStart w:id='77' w:name='mark'/><!--note--></w:p>"
    data = word(body, more={"docProps/app.xml": "<x>company</x>", "word/media/a.png": b"pixels"})
    found = " ".join(WORD.strings(data))
    for one in ("Anna", "field", "00AB12", "mark", "77", "note", "company", "pixels", "docProps/app.xml"):
        assert one in found


@settings(deadline=None, max_examples=60)
@given(PARAGRAPHS, st.sampled_from(["plain", "table", "header", "note", "box"]), st.booleans())
def test_edited_words_are_nowhere_also_across_runs(paragraphs, where, put):
    made, parts = "", []
    for one in paragraphs:
        runs = [
            run(part, "<w:i/>" * (at % 2))
            for pair in one.parted
            for at, part in enumerate((*pair, " "))
            if part
        ]
        made += paragraph(*runs)
    if where == "plain":
        body = made
    elif where == "table":
        body = table([made, paragraph("x")])
    elif where == "header":
        body = paragraph("x") + "<w:sectPr><w:headerReference w:type='default' r:id='rId1'/></w:sectPr>"
        parts = [("header", made)]
    elif where == "note":
        body = paragraph("x", "<w:r><w:footnoteReference w:id='4'/></w:r>")
        parts = [("footnotes", f"<w:footnote w:id='4'>{made}</w:footnote>")]
    else:
        body = paragraph("x", f"<w:r><w:pict>{BOX.format(made)}</w:pict></w:r>")
    one = opened(body, parts)
    assert solid("".join("".join(each.words) for each in paragraphs)) in solid(one.text)
    stands(WORD, one)
    words = [each.words[0] for each in paragraphs]
    gone(WORD, one, edits_of(one.text, words, "put" if put else ""), words)
