-- rag_parse.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
\pset null NULL
SET client_min_messages = warning;

CREATE TABLE files (name text PRIMARY KEY, bytes bytea);
INSERT INTO files VALUES
    ('page', convert_to($$<!DOCTYPE html><title>The shop</title><style>p { color: red }</style>
<nav><ul><li>Home</ul></nav>
<p>Open <b>daily</b>.<p hidden>Closed.
<h2>Paper</h2><ul><li>white<li>grey<ol><li>thin<li>thick</ol></ul>
<h2>Prices</h2><table><tr><th>Size<th>Price<tr><td>A4<td>5 | 6</table><script>track()</script>$$, 'UTF8')),
    ('readme', convert_to($$# Mill

It grinds.

## Wheel

It turns.
$$, 'UTF8')),
    ('book', convert_to($$Before all.

# One

1

# Two

2$$, 'UTF8'));
INSERT INTO files VALUES ('pdf', convert_to($$%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Kids [4 0 R 6 0 R] /Count 2 /MediaBox [0 0 595 842] >> endobj
3 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj
4 0 obj << /Type /Page /Parent 2 0 R /Contents 5 0 R /Resources << /Font << /F 3 0 R >> >> >> endobj
5 0 obj << /Length 191 >> stream
BT /F 20 Tf 72 780 Td (The Press) Tj ET
BT /F 10 Tf 72 750 Td (The press has two rollers, which must be cleaned) Tj ET
BT /F 10 Tf 72 738 Td (every evening by the last person to leave.) Tj ET
endstream endobj
6 0 obj << /Type /Page /Parent 2 0 R /Contents 7 0 R /Resources << /Font << /F 3 0 R >> >> >> endobj
7 0 obj << /Length 269 >> stream
BT /F 10 Tf 72 780 Td (Ink is kept in the cellar.) Tj ET
BT /F 10 Tf 72 740 Td (Part) Tj ET
BT /F 10 Tf 250 740 Td (Pieces) Tj ET
BT /F 10 Tf 72 726 Td (Roller) Tj ET
BT /F 10 Tf 250 726 Td (2) Tj ET
BT /F 10 Tf 72 712 Td (Screw) Tj ET
BT /F 10 Tf 250 712 Td (16) Tj ET
endstream endobj
xref
0 8
0000000000 65535 f 
0000000009 00000 n 
0000000058 00000 n 
0000000145 00000 n 
0000000215 00000 n 
0000000316 00000 n 
0000000558 00000 n 
0000000659 00000 n 
trailer << /Size 8 /Root 1 0 R >>
startxref
979
%%EOF$$, 'UTF8'));
INSERT INTO files VALUES ('encrypted', convert_to($$%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Kids [4 0 R 6 0 R] /Count 2 /MediaBox [0 0 595 842] >> endobj
3 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj
4 0 obj << /Type /Page /Parent 2 0 R /Contents 5 0 R /Resources << /Font << /F 3 0 R >> >> >> endobj
5 0 obj << /Length 191 >> stream
BT /F 20 Tf 72 780 Td (The Press) Tj ET
BT /F 10 Tf 72 750 Td (The press has two rollers, which must be cleaned) Tj ET
BT /F 10 Tf 72 738 Td (every evening by the last person to leave.) Tj ET
endstream endobj
6 0 obj << /Type /Page /Parent 2 0 R /Contents 7 0 R /Resources << /Font << /F 3 0 R >> >> >> endobj
7 0 obj << /Length 269 >> stream
BT /F 10 Tf 72 780 Td (Ink is kept in the cellar.) Tj ET
BT /F 10 Tf 72 740 Td (Part) Tj ET
BT /F 10 Tf 250 740 Td (Pieces) Tj ET
BT /F 10 Tf 72 726 Td (Roller) Tj ET
BT /F 10 Tf 250 726 Td (2) Tj ET
BT /F 10 Tf 72 712 Td (Screw) Tj ET
BT /F 10 Tf 250 712 Td (16) Tj ET
endstream endobj
xref
0 8
0000000000 65535 f 
0000000009 00000 n 
0000000058 00000 n 
0000000145 00000 n 
0000000215 00000 n 
0000000316 00000 n 
0000000558 00000 n 
0000000659 00000 n 
trailer << /Size 8 /Root 1 0 R /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <28BF4E5E28BF4E5E28BF4E5E28BF4E5E28BF4E5E28BF4E5E28BF4E5E28BF4E5E> /U <28BF4E5E28BF4E5E28BF4E5E28BF4E5E28BF4E5E28BF4E5E28BF4E5E28BF4E5E> >> /ID [<01> <01>] >>
startxref
979
%%EOF$$, 'UTF8'));
INSERT INTO files VALUES ('docx', decode($$UEsDBBQAAAAIAAAAIQB9j8M5SgAAAE0AAAATAAAAW0NvbnRlbnRfVHlwZXNdLnhtbLMJqSxILVaoyM3JK7ZVyigpKbDS1y9OzkjN
TSzWyy9IzQPKpOUX5SaWALlF6foFicnZiemp+kYGBmb6yfl5Jal5JbolIDOU9O0AUEsDBBQAAAAIAAAAIQDXalED2QAAAF4CAAAR
AAAAd29yZC9kb2N1bWVudC54bWyVUstuwjAQ/BUrH8BSDj1YIef2hig/4DjbJMKPaL1g+HuMQ1KpCkIcvCtrZna0Y5dRNl6fLDoW
F2tckHFbdMyDBAi6Q6vCyg/oEvbrySpOV2ohemoG8hpD6F1rDWzW60+wqndFVUZZ++Z670MuO8rth68GRZRnZbbF10cBVQkzmgtX
e28MUrgDnGEaSfOwB+/QIaFQ6XD0gkbValHGtcltVOr/k3aKeEEHE3dB0WPa+7kGZrMnluOS75luXvrBvOrbqX+748vEE0f0QdRG
6eNS0DC9Ovz9qOoGUEsDBBQAAAAIAAAAIQBZO5itgAAAAKwAAAAPAAAAd29yZC9zdHlsZXMueG1sRY1BCgMhEAS/Ij4gs5tDDqKe
k2cMq1kXHBVHYvb3MUHIrZsuqnVX3M7oWbwpJlbdyNBaUQC8BU/Il1x8GtszV8I2at2h5+pKzZtnPtJOEa7LcgPCI0mrp1B01c7i
jSxYca9YghRzejgj7+sPTUhf8oVx/Hp0QydWCVbDZP+J7QdQSwECFAMUAAAACAAAACEAfY/DOUoAAABNAAAAEwAAAAAAAAAAAAAA
gAEAAAAAW0NvbnRlbnRfVHlwZXNdLnhtbFBLAQIUAxQAAAAIAAAAIQDXalED2QAAAF4CAAARAAAAAAAAAAAAAACAAXsAAAB3b3Jk
L2RvY3VtZW50LnhtbFBLAQIUAxQAAAAIAAAAIQBZO5itgAAAAKwAAAAPAAAAAAAAAAAAAACAAYMBAAB3b3JkL3N0eWxlcy54bWxQ
SwUGAAAAAAMAAwC9AAAAMAIAAAAA$$, 'base64'));

-- Each format, found from the bytes: part_no, page, heading, content.
SELECT * FROM rag_parse('Just a line.'::bytea);
SELECT p.* FROM files, rag_parse(bytes) p WHERE name = 'readme';
SELECT p.* FROM files, rag_parse(bytes) p WHERE name = 'book';
SELECT p.* FROM files, rag_parse(bytes) p WHERE name = 'page';
SELECT p.* FROM files, rag_parse(bytes) p WHERE name = 'pdf';
SELECT p.* FROM files, rag_parse(bytes) p WHERE name = 'docx';

-- A type decides between formats of text.
SELECT content FROM rag_parse('<p># no'::bytea);
SELECT content FROM rag_parse('<p># no'::bytea, 'text/plain');
SELECT content FROM rag_parse('<p># no'::bytea, 'TEXT/HTML; charset=utf-8');

-- Encodings: found, declared by the page, given.
SELECT content FROM rag_parse(convert_to('Die Straße nach Köln ist schön. Über den Fluß führt eine Brücke.', 'LATIN1'));
SELECT content FROM rag_parse(convert_to('東京は日本の首都です。人口は約千四百万人です。', 'SJIS'));
SELECT content FROM rag_parse('\xfffe47007200fc00df006500'::bytea);
SELECT content FROM rag_parse(convert_to('<meta charset="iso-8859-5"><p>Привет', 'ISO_8859_5'));
SELECT content FROM rag_parse('\xd0d2'::bytea, 'text/plain; charset=koi8-r');
SELECT content FROM rag_parse('\xd0d2'::bytea, options => '{"encoding": "iso-8859-5"}');
SELECT content FROM rag_parse(E'one\\015\\012two\\015three'::bytea);

-- Some of the pages.
SELECT page, content FROM files, rag_parse(bytes, options => '{"first_page": 2}') WHERE name = 'pdf';
SELECT page FROM files, rag_parse(bytes, options => '{"last_page": 1}') WHERE name = 'pdf';
SELECT count(*) FROM files, rag_parse(bytes, options => '{"first_page": 3}') WHERE name = 'pdf';

-- Chunks of documents, with the page and the heading that a citation needs.
SELECT part_no, page, chunk_no, c.heading, replace(left(c.content, 40), E'\n', '/')
FROM files, rag_parse(bytes) p, rag_chunk(p.content, '{"by": "markdown", "max_tokens": 64}') c
WHERE name IN ('pdf', 'docx') ORDER BY name, part_no, chunk_no;

-- No document, no text, no rows.
SELECT count(*) FROM rag_parse(NULL);
SELECT count(*) FROM rag_parse(''::bytea);
SELECT count(*) FROM rag_parse(E' \n'::bytea);
SELECT count(*) FROM rag_parse('text'::bytea, NULL, NULL);

-- What cannot be done.
SELECT fails($$SELECT * FROM rag_parse('x'::bytea, 'application/msword')$$);
SELECT fails($$SELECT * FROM rag_parse('x'::bytea, 'application/pdf')$$);
SELECT fails($$SELECT p.* FROM files, rag_parse(bytes, 'text/html') p WHERE name = 'pdf'$$);
SELECT fails($$SELECT * FROM rag_parse('\x89504e470d0a1a0a')$$);
SELECT fails($$SELECT * FROM rag_parse('\x00010203ff')$$);
SELECT fails($$SELECT * FROM rag_parse('%PDF-1.7')$$);
SELECT fails($$SELECT p.* FROM files, rag_parse(bytes) p WHERE name = 'encrypted'$$);
SELECT fails($$SELECT p.* FROM files, rag_parse(substr(bytes, 1, 500)) p WHERE name = 'docx'$$);
SELECT fails($$SELECT * FROM rag_parse(convert_to(repeat('<div>', 1000), 'UTF8'))$$);
SELECT fails($$SELECT * FROM rag_parse('x'::bytea, options => '{"page": 1}')$$);
SELECT fails($$SELECT * FROM rag_parse('x'::bytea, options => '{"first_page": 1}')$$);
SELECT fails($$SELECT p.* FROM files, rag_parse(bytes, options => '{"first_page": 2, "last_page": 1}') p WHERE name = 'pdf'$$);
SELECT fails($$SELECT * FROM rag_parse('x'::bytea, options => '{"encoding": "klingon"}')$$);
SET rag.parse_timeout = '1ms';
SELECT fails($$SELECT * FROM rag_parse(convert_to(repeat('<p>text', 1000000), 'UTF8'))$$);
RESET rag.parse_timeout;
SELECT content FROM rag_parse('goes on'::bytea);
