"""What are the smallest true office files? Archives of XML, written part by part."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

from holdfast.testing.wording import COLOURS, ENGLISH, chapters


def zipped(members: Sequence[tuple[str, str | bytes]], *, first_stored: bool = False) -> bytes:
    """An archive with equal bytes at each call."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, (name, content) in enumerate(members):
            entry = zipfile.ZipInfo(name, (2025, 1, 2, 3, 4, 6))
            stored = first_stored and place == 0
            entry.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return file.getvalue()


XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
SPREADSHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SLIDE = "http://schemas.openxmlformats.org/presentationml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
KINDS = "application/vnd.openxmlformats-officedocument."


def content_types(parts: Sequence[tuple[str, str]]) -> str:
    listed = "".join(
        f'<Override PartName="/{part}" ContentType="{KINDS}{kind}+xml"/>' for part, kind in parts
    )
    return (
        f'{XML}<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels"'
        ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{listed}</Types>'
    )


def relations(targets: Sequence[tuple[str, str]]) -> str:
    listed = "".join(
        f'<Relationship Id="rId{n}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets, 1)
    )
    return f'{XML}<Relationships xmlns="{PACKAGE}/relationships">{listed}</Relationships>'


def docx(pattern: str = ENGLISH) -> bytes:
    def paragraph(text: str, style: str = "") -> str:
        mark = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
        return f"<w:p>{mark}<w:r><w:t>{text}</w:t></w:r></w:p>"

    body = "".join(
        paragraph(title, "Heading1") + "".join(paragraph(text) for text in part)
        for title, part in chapters(pattern)
    )
    document = f'{XML}<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'
    styles = (
        f'{XML}<w:styles xmlns:w="{WORD}"><w:style w:type="paragraph" w:styleId="Heading1">'
        '<w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style></w:styles>'
    )
    return zipped(
        [
            (
                "[Content_Types].xml",
                content_types(
                    [
                        ("word/document.xml", "wordprocessingml.document.main"),
                        ("word/styles.xml", "wordprocessingml.styles"),
                    ]
                ),
            ),
            ("_rels/.rels", relations([("officeDocument", "word/document.xml")])),
            (
                "word/document.xml",
                document,
            ),
            ("word/styles.xml", styles),
            ("word/_rels/document.xml.rels", relations([("styles", "styles.xml")])),
        ]
    )


def pptx(pattern: str = ENGLISH) -> bytes:
    def shape(number: int, text: str, kind: str) -> str:
        paragraphs = "".join(
            f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n")
        )
        return (
            f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="{kind} {number}"/><p:cNvSpPr/>'
            f'<p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr><p:spPr/>'
            f"<p:txBody><a:bodyPr/>{paragraphs}</p:txBody></p:sp>"
        )

    def slide(title: str, part: Sequence[str]) -> str:
        return (
            f'{XML}<p:sld xmlns:p="{SLIDE}" xmlns:a="{DRAWING}" xmlns:r="{OFFICE}"><p:cSld>'
            '<p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/>'
            "</p:nvGrpSpPr><p:grpSpPr/>"
            f"{shape(2, title, 'title')}{shape(3, chr(10).join(part), 'body')}"
            "</p:spTree></p:cSld></p:sld>"
        )

    slides = [slide(title, part) for title, part in chapters(pattern)]
    names = [f"ppt/slides/slide{n}.xml" for n in range(1, len(slides) + 1)]
    listed = "".join(f'<p:sldId id="{256 + n}" r:id="rId{n}"/>' for n in range(1, len(slides) + 1))
    parts = [("ppt/presentation.xml", "presentationml.presentation.main")]
    return zipped(
        [
            (
                "[Content_Types].xml",
                content_types([*parts, *((name, "presentationml.slide") for name in names)]),
            ),
            ("_rels/.rels", relations([("officeDocument", "ppt/presentation.xml")])),
            (
                "ppt/presentation.xml",
                (
                    f'{XML}<p:presentation xmlns:p="{SLIDE}" xmlns:r="{OFFICE}">'
                    f"<p:sldIdLst>{listed}</p:sldIdLst></p:presentation>"
                ),
            ),
            (
                "ppt/_rels/presentation.xml.rels",
                relations([("slide", f"slides/slide{n}.xml") for n in range(1, len(slides) + 1)]),
            ),
            *zip(names, slides, strict=True),
        ]
    )


def xlsx(pattern: str = ENGLISH) -> bytes:
    def sheet(part: Sequence[str]) -> str:
        rows = "".join(
            f'<row r="{n}"><c r="A{n}"><v>{n}</v></c>'
            f'<c r="B{n}" t="inlineStr"><is><t>{text}</t></is></c></row>'
            for n, text in enumerate(part, 1)
        )
        return f'{XML}<worksheet xmlns="{SPREADSHEET}"><sheetData>{rows}</sheetData></worksheet>'

    sheets = [sheet(part) for _, part in chapters(pattern)]
    numbers = range(1, len(sheets) + 1)
    listed = "".join(
        f'<sheet name="Sheet {COLOURS[n - 1]}" sheetId="{n}" r:id="rId{n}"/>' for n in numbers
    )
    names = [f"xl/worksheets/sheet{n}.xml" for n in numbers]
    return zipped(
        [
            (
                "[Content_Types].xml",
                content_types(
                    [
                        ("xl/workbook.xml", "spreadsheetml.sheet.main"),
                        *((name, "spreadsheetml.worksheet") for name in names),
                    ]
                ),
            ),
            ("_rels/.rels", relations([("officeDocument", "xl/workbook.xml")])),
            (
                "xl/workbook.xml",
                (
                    f'{XML}<workbook xmlns="{SPREADSHEET}" xmlns:r="{OFFICE}">'
                    f"<sheets>{listed}</sheets></workbook>"
                ),
            ),
            (
                "xl/_rels/workbook.xml.rels",
                relations([("worksheet", f"worksheets/sheet{n}.xml") for n in numbers]),
            ),
            *zip(names, sheets, strict=True),
        ]
    )


def epub(pattern: str = ENGLISH) -> bytes:
    numbers = range(1, 4)
    pages = [
        (
            f"OEBPS/c{n}.xhtml",
            (
                f'{XML}<html xmlns="http://www.w3.org/1999/xhtml"><head><title>{title}</title></head>'
                f"<body><h1>{title}</h1>{''.join(f'<p>{text}</p>' for text in part)}</body></html>"
            ),
        )
        for n, (title, part) in enumerate(chapters(pattern), 1)
    ]
    items = "".join(
        f'<item id="c{n}" href="c{n}.xhtml" media-type="application/xhtml+xml"/>' for n in numbers
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in numbers)
    package = (
        f'{XML}<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        '<dc:identifier id="id">b</dc:identifier>'
        "<dc:title>The book of valves</dc:title><dc:language>en</dc:language></metadata>"
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    container = (
        f'{XML}<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        '<rootfiles><rootfile full-path="OEBPS/book.opf"'
        ' media-type="application/oebps-package+xml"/>'
        "</rootfiles></container>"
    )
    return zipped(
        [
            ("mimetype", "application/epub+zip"),
            ("META-INF/container.xml", container),
            ("OEBPS/book.opf", package),
            *pages,
        ],
        first_stored=True,
    )


def odt(pattern: str = ENGLISH) -> bytes:
    namespaces = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{short}:1.0"'
        for short in ("office", "text", "manifest")
    )
    body = "".join(
        f'<text:h text:outline-level="1">{title}</text:h>'
        + "".join(f"<text:p>{text}</text:p>" for text in part)
        for title, part in chapters(pattern)
    )
    kind = "application/vnd.oasis.opendocument.text"
    return zipped(
        [
            ("mimetype", kind),
            (
                "content.xml",
                (
                    f"{XML}<office:document-content {namespaces}><office:body><office:text>{body}"
                    "</office:text></office:body></office:document-content>"
                ),
            ),
            (
                "META-INF/manifest.xml",
                (
                    f"{XML}<manifest:manifest {namespaces}>"
                    f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>'
                    "</manifest:manifest>"
                ),
            ),
        ],
        first_stored=True,
    )
