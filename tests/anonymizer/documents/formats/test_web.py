"""Web pages: what people read, and nothing else in the bytes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html

from anonymizer.documents.formats.web import Web
from anonymizer.documents.texts.edits import Edit
from anonymizer.errors import FileError, TableError
from tests.anonymizer.documents.formats.looks import PARAGRAPHS, edits_of, gone, solid, stands

WEB = Web()


def page(body, head=""):
    return WEB.open("a.html", f"<!doctype html><html><head>{head}</head><body>{body}</body></html>".encode())


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>An<b>na</b> <i>lives</i></p><p>here</p>", "Anna lives\nhere"),
        ("<p>one<br>two<br/>three", "one\ntwo\nthree"),
        ("  a \n\t b  <div> c </div> d ", "a b\nc\nd"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><th>c</th></tr></table>", "a\nb\nc"),
        ("<pre>\n two\n  lines\n</pre>x", " two\n  lines\nx"),
        ("a<my-tag>b</my-tag>c <font color=red>d</font>", "abc d"),
        ("Nico<wbr>sia and Nico&shy;sia&#8203;n", "Nicosia and Nicosian"),
        ("<ruby>東京<rt>とうきょう</rt></ruby>都", "東京都"),
        ("&lt;b&gt; &amp; &eacute;", "<b> & é"),
        ("<picture><source srcset=x><img alt='A photo'></picture> y", "y\nA photo"),
        ("x<img src=a.png alt='A photo' title='Of Anna'>y", "xy\nOf Anna\nA photo"),
        ("<input name=n value=Anna placeholder='your name'>", "your name\nAnna"),
        ("<button aria-label=Close>x</button>", "x\nClose"),
        ("<select><option>a<option selected>b</select>", "a\nb"),
        ("<del>old</del><ins>new</ins>", "oldnew"),
    ],
)
def test_the_text_is_what_people_read(body, text):
    one = page(body)
    assert one.text == text
    stands(WEB, one)


def test_title_and_description_are_read():
    one = page("c", "<title> Case\nof Anna</title><meta name=Description content='About  Anna'>")
    assert one.text == "About Anna\nCase of Anna\nc"
    stands(WEB, one)


HIDDEN = [
    ("<script>Secret</script>", "Scripts"),
    ("<style>.Secret{}</style>", "Scripts"),
    ("<noscript>Secret</noscript>", "Scripts"),
    ("<template><p>Secret</p></template>", "Scripts"),
    ("<!-- Secret -->", "Comments"),
    ("<?Secret x?>", "Comments"),
    ("<p data-x=Secret>y</p>", "data of elements"),
    ("<p class=Secret id=Secret>y</p>", "identifiers"),
    ("<p style='x:Secret'>y</p>", "styles"),
    ("<p onclick='Secret()'>y</p>", "event handlers"),
    ("<a href='http://Secret'>y</a>", "Addresses"),
    ("<img src='data:text/plain,Secret'>", "Addresses"),
    ("<form action=Secret>y</form>", ""),
    ("<input type=hidden value=Secret>", "Fields of forms"),
    ("<input type=password value=Secret>", "Fields of forms"),
    ("<input type=checkbox value=Secret>", "Fields of forms"),
    ("<select><option value=Secret>y</select>", ""),
    ("<iframe src=Secret>Secret</iframe>", "embedded"),
    ("<svg><metadata>Secret</metadata><title>Secret</title></svg>", "embedded"),
    ("<object data=Secret>Secret</object>", "embedded"),
    ("<video src=Secret><track label=Secret></video>", "embedded"),
    ("<math><mi>Secret</mi></math>", "Formulas"),
    ("<p hidden>Secret</p>", "hidden"),
    ("<p style='color:red; DISPLAY : none'>Secret</p>", "hidden"),
    ("<time datetime=Secret>y</time>", "data"),
    ("<p lang=Secret dir=Secret>y</p>", ""),
    ("<td colspan=Secret>y</td>", ""),
    ("<Secret>y</Secret>", ""),
    ("<p Secret=1 aria-Secret=2>y</p>", "data"),
]


@pytest.mark.parametrize(("body", "said"), HIDDEN)
def test_what_people_do_not_read_is_left_out_and_said(body, said):
    one = page(f"<p>x</p>{body}")
    gone(WEB, one, (), ["Secret", "secret"])
    assert said in " ".join(one.dropped)
    stands(WEB, one)


@pytest.mark.parametrize(
    "head",
    [
        "<meta name=author content=Secret>",
        "<meta property='og:title' content=Secret>",
        "<link rel=canonical href=Secret>",
        "<base href=Secret>",
        "<!-- Secret -->",
        "<script type='application/ld+json'>{'a': 'Secret'}</script>",
    ],
)
def test_of_the_head_only_title_and_description_stay(head):
    one = page("x", head)
    gone(WEB, one, (), ["Secret"])
    assert one.dropped
    stands(WEB, one)


@pytest.mark.parametrize(
    "data",
    [
        b"<meta charset=cp1252><p>Zo\xeb",
        b"<meta http-equiv=Content-Type content='text/html; charset=windows-1252'><p>Zo\xeb",
        b"<?xml version='1.0' encoding='cp1252'?><html><body><p>Zo\xeb</p></body></html>",
        "\ufeff<meta charset=cp1252><p>Zoë".encode("utf-16"),
    ],
)
def test_a_page_says_its_encoding(data):
    one = WEB.open("a.html", data)
    assert one.text == "Zoë"
    stands(WEB, one)


@pytest.mark.parametrize("data", [b"<p>Zo\xeb", b"<meta charset=no-such><p>x", b"<meta charset=utf-8>\xff"])
def test_a_page_of_no_known_encoding_is_refused(data):
    with pytest.raises(FileError, match=r"not (UTF|utf)-8|not an encoding"):
        WEB.open("a.html", data)
    assert Web("cp1252").open("a.html", b"<p>Zo\xeb").text == "Zoë"


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "no text"),
        (b"<p></p>", "no text"),
        (b"<script>x</script>", "no text"),
        (b"<p>\x00x", "U\\+0000"),
        (b"<p>a&#8;b", "control characters"),
        (b"<div>" * 250 + b"x", "nested deeper"),
        (b"x" * (1 << 24) + b"x", "larger than 16,777,216 bytes"),
    ],
)
def test_pages_that_cannot_be_read_are_refused(data, what):
    with pytest.raises(FileError, match=what):
        WEB.open("a.html", data)


def test_an_edit_over_elements_stands_in_the_first():
    one = page("<p>An<b>na</b> here</p><p>next</p>")
    data = one.apply_edits([Edit(1, 12, "*", "direct", "PERSON")])
    assert WEB.open("a.html", data).text == "A*\nxt"
    assert b"<b>" in data


def test_an_edit_of_a_line_break_alone_is_refused():
    with pytest.raises(TableError, match="only a line break"):
        page("<p>a</p><p>b</p>").apply_edits([Edit(1, 2, "x", "direct", "PERSON")])


def test_a_deleted_attribute_is_gone():
    one = page("x<img alt=Anna>")
    assert b"alt" not in one.apply_edits(edits_of(one.text, ["Anna"]))


def test_what_a_reader_overlooks_is_in_the_strings():
    data = (
        b"<!DOCTYPE html><p>An<b>na</b> <!--note--><i data-x='y' class='z' alt='w'>t</i><blink>u</blink></p>"
    )
    found = " ".join(WEB.strings(data))
    for word in ("Anna", "note", "data-x y", "class z", "alt w", "blink"):
        assert word in found


@settings(deadline=None)
@given(PARAGRAPHS, st.booleans(), st.booleans())
def test_edited_words_are_nowhere_also_across_elements(paragraphs, attribute, put):
    body = ""
    for one in paragraphs:
        words = " ".join(f"<i>{a}</i>{b}" for a, b in one.parted)
        body += f"<p title='{' '.join(one.words)}'>{words}</p>" if attribute else f"<div>{words}<br></div>"
    made = page(body, f"<title>{paragraphs[0].words[0]}</title>")
    assert solid("".join("".join(one.words) for one in paragraphs)) in solid(made.text)
    stands(WEB, made)
    words = [one.words[0] for one in paragraphs]
    gone(WEB, made, edits_of(made.text, words, "put" if put else ""), words)


TAGS = "p b pre td table tr textarea li ul select option svg script title x-y h1 button label html body"
SOUP = st.lists(
    st.sampled_from([f"<{slash}{tag}>" for slash in ("", "/") for tag in TAGS.split()])
    | st.sampled_from(
        ["<br>", "<a title='q'>", "</a>", "<hr>", "&", "<", ">", "&amp;", "&#160;", "<!--", "-->"]
    )
    | st.sampled_from(["<![CDATA[", "]]>", "a", "b", "\n", " ", "\r", "\t", "\u00a0", "東京"]),
    min_size=1,
    max_size=25,
)


@settings(deadline=None, max_examples=300)
@given(SOUP.map("".join))
def test_any_tag_soup_is_refused_or_stays(soup):
    try:
        made = WEB.open("a.html", soup.encode())
    except FileError:
        return
    stands(WEB, made)
    assert html.document_fromstring(made.apply_edits(())) is not None
