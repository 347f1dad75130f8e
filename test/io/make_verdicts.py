#!/usr/bin/env python3
"""Writes fixtures/safetensors_headers.txt and fixtures/npy_headers.txt, which reference_test.cpp reads: headers sound and
unsound, and what the reference implementations say of them. python3 make_verdicts.py [cases], with numpy and
safetensors; more cases than the default go to the folder OUT, if that is in the environment.

A line is: verdict, bytes of elements, header, what it says. Bytes that are not printable, blanks and % are written as
%XX. The verdict is + where the reference reads the file and - where it does not; = where it reads it and the format's
text forbids it: those are refused here, too (rules_of_the_format and beyond_the_library say which).
"""

import io
import json
import os
import pathlib
import random
import re
import struct
import sys
import warnings

import numpy
import safetensors

FOLDER = pathlib.Path(os.environ.get("OUT", pathlib.Path(__file__).parent / "fixtures"))
CASES = int(sys.argv[1]) if len(sys.argv) > 1 else 450
warnings.simplefilter("ignore")


def quoted(text) -> str:
    raw = text if isinstance(text, bytes) else text.encode()
    return "".join(chr(byte) if 0x20 < byte < 0x7F and byte != ord("%") else f"%{byte:02X}" for byte in raw)


def mutated(seeds: list, pieces: list, cases: int) -> list:
    """Seeds with one to three changes, each of them once."""
    chance = random.Random(1)
    made = {}
    while len(made) < cases:
        data, seed = chance.choice(seeds)
        text = bytearray(seed)
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            at = chance.randrange(len(text) + 1)
            kind = chance.randrange(6)
            if kind == 0:
                text[at : at + 1] = chance.choice(pieces)
            elif kind == 1:
                text[at:at] = chance.choice(pieces)
            elif kind == 2:
                del text[at : at + chance.randrange(1, 5)]
            elif kind == 3:
                begin = chance.randrange(len(text) + 1)
                text[at:at] = text[begin : begin + chance.randrange(1, 25)]
            elif kind == 4:
                digits = [place for place, byte in enumerate(text) if chr(byte).isdigit()]
                if digits:
                    text[chance.choice(digits)] = ord(chance.choice("0123456789"))
            else:
                del text[at:]
        if text:
            made[(data, bytes(text))] = None
    return list(made)


# safetensors


class Forbidden(Exception):
    pass


def members(pairs: list) -> dict:
    if len({name for name, _ in pairs}) < len(pairs):
        raise Forbidden("a member is given twice")
    return dict(pairs)


def rules_of_the_format(header: bytes) -> None:
    """Forbidden, although the reference reads it: members given twice, tensors that are no objects and types that are no
    strings; and tensors without elements whose other extents have a product above 2^59."""
    for name, tensor in json.loads(header, object_pairs_hook=members).items():
        if name != "__metadata__":
            if not isinstance(tensor, dict) or not isinstance(tensor["dtype"], str):
                raise Forbidden("a tensor is not as the format says")
            count = 1
            for extent in tensor["shape"]:
                count *= max(extent, 1)
            if count > 2**59:
                raise Forbidden("extents cannot be counted")


def safetensors_verdict(data: int, header: bytes) -> tuple:
    try:
        read = safetensors.deserialize(struct.pack("<Q", len(header)) + header + bytes(data))
    except Exception:
        return "-", ""
    try:
        rules_of_the_format(header)
    except Forbidden:
        return "=", ""
    said = sorted((name.encode(), f"{tensor['dtype']}{tensor['shape']}".replace(" ", "")) for name, tensor in read)
    return "+", ";".join(quoted(name) + ":" + rest for name, rest in said)


def safetensors_cases() -> list:
    def tensor(dtype='"U8"', shape="[64]", offsets="[0,64]", more="", name='"w"'):
        return '{%s:{"dtype":%s,"shape":%s,"data_offsets":%s%s}}' % (name, dtype, shape, offsets, more)

    def u8(name, begin, end, shape=None):
        return '"%s":{"dtype":"U8","shape":%s,"data_offsets":[%d,%d]}' % (name, shape or [end - begin], begin, end)

    sound = tensor()
    cases = []
    bits = {"BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8}
    bits |= {"F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32}
    bits |= {"F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64}
    bits |= {"F8_E4M3FN": 8, "I4": 4, "C128": 128, "C32": 32, "f32": 32, "F32 ": 32, "": 8, "U1": 1}
    for dtype, size in bits.items():
        cases.append((size, tensor(f'"{dtype}"', "[8]", f"[0,{size}]")))
        cases.append((size + 1, tensor(f'"{dtype}"', "[8]", f"[0,{size + 1}]")))
    for dtype, count, size in (
        ("F4", 3, 1),
        ("F4", 3, 2),
        ("F4", 2, 1),
        ("F6_E2M3", 2, 1),
        ("F6_E2M3", 4, 3),
        ("F4", 0, 0),
    ):
        cases.append((size, tensor(f'"{dtype}"', f"[{count}]", f"[0,{size}]")))
    for text in (
        " {}",
        "\n{}",
        "\ufeff{}",
        "{} \n\t\r",
        "{}\0",
        "{}\f",
        "{} x",
        "{}{}",
        "/**/{}",
        "[]",
        '"a"',
        "5",
        "null",
    ):
        cases.append((0, text))
    cases += [(0, "{}"), (0, '{"__metadata__":{"a":"b"}}'), (0, ""), (0, "   "), (1, "{}"), (64, sound[:-1])]
    for text in ('{"U8":null}', "5", "null", '["U8"]', '"\\u00558"', '"u8"'):
        cases.append((64, tensor(dtype=text)))
    shapes = '[64.0] [64e0] [+64] [064] [-64] [-0] [00] [0x40] ["64"] null [64,] [,64] [64,1] [[64]] {} 64 [8,8] [64,0]'
    for text in shapes.split() + ["[ 64 ]", "[8 8]", "[1,64,1]", "[63]", "[65]", "[18446744073709551616]", "[6\n4]"]:
        cases.append((64, tensor(shape=text)))
    cases.append((64, tensor(shape="[9223372036854775808,2]")))
    for text in (
        "[0,64,64]",
        "[0]",
        "[]",
        "[64,0]",
        "[-1,63]",
        "[0,65]",
        "[1,65]",
        "[0,63]",
        "[4,64]",
        "[0,64.0]",
        "[00,64]",
    ):
        cases.append((64, tensor(offsets=text)))
    for text in (
        "[18446744073709551615,63]",
        "[18446744073709551616,18446744073709551680]",
        "{}",
        "null",
        '"0,64"',
        "[0,[64]]",
    ):
        cases.append((64, tensor(offsets=text)))
    values = (
        "06 1. .5 NaN Infinity -Infinity tru True truex nul 1e999 1e-999 0e999 1.9e308 1.7e308 - -- +1 1e 1e+ 1E+05"
        " -01 -0"
    )
    values += ' 1x 0x1 1_0 {} [] [1,2.5e3,-0,true,false,null,"a"] {"y":1} {"y":1,"y":2} [1,] {"y":1,} {,} [,] {1:2}'
    values += ' "\\ud83d" "\\ude00" "\\ud83d\\ude00" \'a\' 1e99999999999 -1e400 ' + "9" * 400 + " " + "9" * 25 + " ["
    for text in values.split() + ["", '"\t"', '"\x7f"', "[1 2]", '{"y" 1}']:
        cases.append((64, tensor(more=',"x":' + text)))
    for depth in (64, 100, 125, 126, 127, 200):
        cases.append((64, tensor(more=',"x":' + "[" * depth + "]" * depth)))
        cases.append((64, tensor(more=',"x":' + '{"a":' * depth + "1" + "}" * depth)))
    for text in (
        ',"dtype":"U8"',
        ',"shape":[64]',
        ',"data_offsets":[0,64]',
        ',"x":1',
        ',"x":1,"x":2',
        ',"Dtype":1',
        ",",
    ):
        cases.append((64, tensor(more=text)))
    cases += [
        (64, "{" + u8("w", 0, 64) + "," + u8("w", 0, 64) + "}"),
        (64, "{" + u8("w", 0, 32) + "," + u8("w", 32, 64) + "}"),
        (64, "{" + u8("w", 32, 64) + "," + u8("w", 0, 64) + "}"),
        (64, "{" + u8("w", 0, 64) + "," + u8("\\u0077", 0, 64) + "}"),
        (64, "{" + u8("a", 0, 30) + "," + u8("b", 34, 64) + "}"),
        (64, "{" + u8("a", 0, 40) + "," + u8("b", 32, 64) + "}"),
        (64, "{" + u8("a", 0, 64) + "," + u8("b", 0, 64) + "}"),
        (64, "{" + u8("a", 0, 64) + "," + u8("b", 16, 32) + "}"),
        (64, "{" + u8("b", 32, 64) + "," + u8("a", 0, 32) + "}"),
        (64, "{" + u8("a", 0, 60) + "}"),
        (64, "{" + u8("a", 4, 64) + "}"),
        (64, '{"w":["U8",[64],[0,64]]}'),
        (64, '{"w":["U8",[64]]}'),
        (64, '{"w":5}'),
        (64, '{"w":null}'),
        (64, '{"w":{"shape":[64],"data_offsets":[0,64]}}'),
        (64, '{"w":{"dtype":"U8","data_offsets":[0,64]}}'),
        (64, '{"w":{"dtype":"U8","shape":[64]}}'),
        (64, '{"w":{"\\u0064type":"U8","shape":[64],"data_offsets":[0,64]}}'),
    ]
    for begin in (0, 8, 32, 64, 99):  # tensors without elements
        for shape in ("[0]", "[0,5]", "[3,0,2]"):
            empty = u8("e", begin, begin, shape)
            cases.append((64, "{" + u8("w", 0, 64) + "," + empty + "}"))
            cases.append((64, "{" + empty + "," + u8("a", 0, 32) + "," + u8("b", 32, 64) + "}"))
    for shape in (
        "[4611686018427387904,0]",
        "[0,1099511627776,1099511627776]",
        "[576460752303423488,0]",
        "[1152921504606846976,0]",
    ):
        cases.append((64, "{" + u8("w", 0, 64) + "," + u8("e", 64, 64, shape) + "}"))
    metadata = ('{"a":"b"}', "null", '{"a":1}', '{"a":null}', '"a"', "[]", "{}", '{"a":"b","a":"c"}', '{"a":{}}', "5")
    for text in metadata + ('{"a":"\\ud83d"}', '{"a":"\n"}', '{"":""}', '{"a":"\\u0000"}', '{"a":"ü"}'):
        cases.append((64, '{"__metadata__":' + text + "," + sound[1:]))
        cases.append((64, sound[:-1] + ',"__metadata__":' + text + "}"))
    cases.append((64, '{"__metadata__":{"a":"b"},"__metadata__":{"a":"b"},' + sound[1:]))
    cases.append((64, '{"\\u005f_metadata__":{"a":"b"},' + sound[1:]))
    cases.append((64, tensor(name='"__metadata__"')))
    names = [
        "",
        "a b",
        "ü😀",
        "a\x7fb",
        "a\nb",
        "a\tb",
        "a\0b",
        "a\x1fb",
        "\\u0000",
        "\\ud83d",
        "\\ude00",
        "\\ud83d\\ude00",
    ]
    names += [
        "\\uD83D\\uDE00",
        "\\ud83dx",
        "\\ud83d\\ud83d",
        "\\ud83d\\n",
        "\\x41",
        "\\u00g0",
        "\\u00",
        "\\u+041",
        "\\",
        "\\'",
    ]
    names += ['\\"\\\\\\/\\b\\f\\n\\r\\t', "\\u0041", "\\uffff", "\\u00e4", "\\U0041", "\\0"]
    raw = [
        b"\xff",
        b"\xc0\xaf",
        b"\xed\xa0\x80",
        b"\xe2\x82",
        b"\xe2\x82\xac",
        b"\xf4\x90\x80\x80",
        b"\xf4\x8f\xbf\xbf",
        b"\x80",
    ]
    raw += [
        b"\xe0\x9f\xbf",
        b"\xe0\xa0\x80",
        b"\xf0\x8f\xbf\xbf",
        b"\xf0\x90\x80\x80",
        b"\xc3",
        b"\xf5\x80\x80\x80",
        b"\xef\xbf\xbf",
    ]
    for name in [text.encode() for text in names] + raw:
        cases.append((64, sound.encode().replace(b'"w"', b'"' + name + b'"')))
    cases += [
        (64, sound.replace('"', "'")),
        (64, sound.replace(":", " : ").replace(",", "\n,\t")),
        (64, sound[:-1] + ",}"),
    ]
    cases += [
        (64, sound.replace(":", "=")),
        (64, sound + sound),
        (64, '{"w" 1}'),
        (64, '{"w":}'),
        (64, "{w:1}"),
        (64, '{"w'),
    ]
    cases = [(data, text if isinstance(text, bytes) else text.encode()) for data, text in cases]
    seeds = [
        (64, text.encode())
        for text in (
            sound,
            '{"__metadata__":{"format":"pt"},' + u8("a", 0, 32) + "," + u8("b", 32, 64, "[4,8]") + "}",
            '{"c":{"dtype":"C64","shape":[2,3],"data_offsets":[16,64]},"d":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}}',
            '{"é":{"dtype":"BF16","x":[1,{"y":-2.5e-3}],"shape":[32],"data_offsets":[0,64]},'
            + u8("e", 64, 64, "[0,3]")
            + "}",
        )
    ]
    pieces = [bytes([byte]) for byte in b'{}[]:,"\\0123456789 -+.eEu\n\0\x1f\x7f\xc3\xff'] + [
        b'"x":1,',
        b"null",
        b"\\u00e4",
        b"[0]",
    ]
    return list(dict.fromkeys(cases)) + mutated(seeds, pieces, CASES)


# .npy: format 1.0, or that before a colon


def beyond_the_library(dtype: numpy.dtype, header: bytes) -> bool:
    """NumPy reads it and the library does not: no numbers, of no element type here, arrays as elements; numbers of bytes
    with a sign or a blank before them ('f +8'), types as control characters, letters by their names."""
    sizes = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8), "c": (8, 16)}
    spelled = re.search(rb"[biufc][ +\t\f]+\d|\(\)f|[<>|=]\\\d+['\"]|\\N\{|\('<f8',", header)
    return dtype.itemsize not in sizes.get(dtype.kind, ()) or spelled is not None


def npy_verdict(data: int, header: bytes) -> tuple:
    version, text = header[:2], header[3:]
    whole = b"\x93NUMPY" + bytes(int(digit) for digit in version.decode())
    whole += struct.pack("<H" if version[0:1] == b"1" else "<I", len(text)) + text + bytes(data)
    name = FOLDER / "tried.npy"
    name.write_bytes(whole)
    try:
        numpy.load(name)
    except Exception:
        return "-", ""
    finally:
        name.unlink()
    with io.BytesIO(whole) as file:
        numpy.lib.format.read_magic(file)
        shape, fortran, dtype = numpy.lib._format_impl._read_array_header(
            file, (int(chr(version[0])), int(chr(version[1])))
        )
    if beyond_the_library(dtype, text):
        return "=", ""
    return "+", f"{dtype.str}{list(shape)}{'F' if fortran else 'C'}".replace(" ", "")


def npy_cases() -> list:
    def text(descr="'<f8'", order="False", shape="(2,)", version="10"):
        return version + ":{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)

    sound = text()
    cases = []
    shapes = (
        "(6) (2) ((2,)) (2,) (2,2) 2, 2 [2] {2} (02,) (0,) (00,) (0_0,2) (0x2,) (0X2,) (0b10,) (0o2,) (1_0,) (0_2,)"
        " (0xA_0,0)"
    )
    shapes += (
        " (2__0,0) (2_,0) (_2,) (+2,) (-2,) (-1,) (-0,) (+0,) (--2,) (+-2,) (2.0,) (2e0,) (2.,) (2j,) (True,) (False,)"
        " (None,)"
    )
    shapes += (
        " ('2',) (2L,) (2l,) (0L,) (02L,) (0xAL,0) (2LL,) (2,,) (,) () (2;) (1+1,) (2,)*1 (*(2,),) (2**1,) (~2,) (...,)"
        " (0x,)"
    )
    shapes += " (0b2,) (0o8,) (0xg,) ((2),) (((2)),(1)) ((2,),) ((2,),2) (2,), (0,-1) (-1,0) 0x2 '(2,)' None True (2,3"
    shapes += (
        " (99999999999999999999,) (9223372036854775807,0) (9223372036854775808,0) (4294967296,4294967296,0) (2,3,0,4)"
        " (2 ,)"
    )
    for shape in shapes.split() + [
        "( )",
        "(2 2)",
        "(2 L,)",
        "(- 2,)",
        "(+ 2,)",
        "(not 2,)",
        "(2\xa0,)",
        "( 2 , )",
        "(2,)\t",
    ]:
        cases += [text(shape=shape), text(shape=shape, version="30")]
    for blank in ("\n", "\r", "\r\n", "\f", "\v", "\t", "#c\n", "#(\n", "\\\n", "\\\r\n", "\\ \n", "\0", "\\"):
        cases += [
            text(shape=f"(2,{blank}2)"),
            sound[:3] + blank + sound[3:],
            sound + blank,
            sound.replace(": ", ":" + blank),
        ]
    cases += [
        sound[:3] + "\n " + sound[3:],
        sound[:3] + " \n" + sound[3:],
        sound[:3] + "\n \n" + sound[3:],
        sound + "\n\n",
        sound + "\n \n",
    ]
    cases += [
        sound + "#ü",
        sound[:3] + "(" + sound[3:] + ")",
        sound + ",",
        sound + ";",
        sound + ";1",
        sound + " x",
        sound + "\nx",
        sound + sound[3:],
    ]
    for order in (
        "True",
        "0",
        "1",
        "true",
        "None",
        "(True)",
        "((False))",
        "not True",
        '"True"',
        "True,",
        "()",
        "TrueX",
        "True False",
        "True#c\n",
    ):
        cases.append(text(order=order))
    types = (
        "<f8 f8 =f8 |f8 >f8 !f8 <f4 >f4 <f2 >f2 <f16 <c8 >c8 <c16 >c16 <c32 <c4 <i1 |i1 >i1 <i2 >i2 <i4 >i4 <i8 >i8 <i3"
        " <i16 |u1 <u2 >u2"
    )
    types += (
        " <u4 >u4 <u8 >u8 |b1 <b1 >b1 b1 <b2 f08 i01 <U1 |S8 |V8 |O <m8 <M8[ns] d >d |d f e D F g h H i I l L q Q p P n"
        " N b B ? >? >h =D G"
    )
    types += (
        " a8 S U x f8, 2f8 ()f8 f+8 f-8 f8.0 f0x8 f B1 E1 F1 B2 float float16 float32 float64 >float64 half single"
        " double complex complex64"
    )
    types += (
        " complex128 csingle cdouble byte ubyte short ushort intc uintc int uint long ulong longlong ulonglong intp"
        " uintp int8 int16 int32 int64"
    )
    types += " uint8 uint16 uint32 uint64 bool bool_ int_ longdouble float128 Float64 float_ float8 object str f8\x00"
    for dtype in types.split() + ["", "<", "f 8", " f8", "f8 ", "f8\n", "<f99999999999", "f8\\n"]:
        cases.append(text(descr=f"'{dtype}'"))
    for descr in (
        "None",
        "1",
        "'<f8',",
        "('<f8', ())",
        "('<f8',)",
        "[('a', '<f8')]",
        "[]",
        "('<f8')",
        "((('<f8')))",
        "{'a': 1}",
    ):
        cases.append(text(descr=descr))
    strings = (
        "u'<f8'",
        "U'<f8'",
        "r'<f8'",
        "R'<f8'",
        "b'<f8'",
        "f'<f8'",
        "ur'<f8'",
        '"<f8"',
        "'''<f8'''",
        '"""<f8"""',
        "u'''<f8'''",
    )
    strings += (
        "'<' 'f8'",
        "'<''f8'",
        "'<' \"f8\"",
        "'<'\n'f8'",
        "'<'#c\n'f8'",
        "'<' u'f8'",
        "'<' b'f8'",
        "'<' + 'f8'",
        "'<f8",
        "<f8'",
        "'<f8\"",
    )
    strings += (
        "'\\x3cf8'",
        "'<\\146\\70'",
        "'<\\u0066\\U000000388'",
        "'\\u003cf8'",
        "'\\U0000003cf8'",
        "'\\N{LESS-THAN SIGN}f8'",
        "'<\\\nf8'",
        "'<\\qf8'",
    )
    strings += (
        "r'\\x3cf8'",
        "'\\x3f8'",
        "'\\u03f8'",
        "'<\nf8'",
        "'''<\nf8'''",
        "'''<f8'",
        "'<f8''",
        "'\\'<f8'",
        "'\\",
        "u '<f8'",
        "'\\U00110000f8'",
    )
    for descr in strings:
        cases.append(text(descr=descr))
    for key in (
        '"descr"',
        "u'descr'",
        "'de' 'scr'",
        "('descr')",
        "b'descr'",
        "descr",
        "'Descr'",
        "'descr '",
        "'d\\x65scr'",
        "'''descr'''",
        "1",
    ):
        cases.append(sound.replace("'descr'", key))
    cases += [
        sound.replace("{", "{" + more, 1)
        for more in ("'shape': (1,), ", "'descr': 'x', ", "'x': 1, ", ",", "**{}, ", "'fortran_order': 0,")
    ]
    cases += [sound.replace(", }", end) for end in ("}", ",}", ",,}", "", ")", "]", ", )", "}}")]
    cases += [
        "10:",
        "10:{}",
        "10:[]",
        "10:()",
        "10:5",
        "10:{'descr': '<f8', 'shape': (2,)}",
        "10:{'descr','shape','fortran_order'}",
    ]
    cases += [
        "10:dict(descr='<f8', fortran_order=False, shape=(2,))",
        sound.replace(":", "=", 2).replace("=", ":", 1),
        sound.replace("'", '"'),
    ]
    cases += [version + sound[2:] for version in ("11", "20", "21", "30", "31", "00", "40", "19")]
    cases += [
        sound.replace("10:", "10:\ufeff"),
        sound.replace("10:", "30:\ufeff"),
        sound.replace("10:", "30:") + "#ü",
        sound.replace(": ", "  :\n  "),
    ]
    cases += [text(shape="(" * depth + "(2,)" + ")" * depth) for depth in (1, 50, 198, 199, 300)]
    cases += [text(shape="(" + "1," * 64 + ")"), sound + " " * 300]
    cases = [(64, case.encode("utf-8")) for case in cases]
    cases += [
        (64, sound.encode() + b"#\xff"),
        (64, sound.replace("10:", "30:").encode() + b"#\xff"),
        (15, sound.encode()),
        (16, sound.encode()),
    ]
    cases += [(0, text(shape="(0,)").encode()), (7, text(shape="()").encode()), (8, text(shape="()").encode())]
    seeds = [
        (64, text(version=version, shape=shape, descr=descr).encode())
        for version, shape, descr in (
            ("10", "(2, 3)", "'<f8'"),
            ("30", "(4,)", "'>c16'"),
            ("20", "(2L, 1L)", "u'|u1'"),
            ("10", "()", '"<i4"'),
        )
    ]
    pieces = [bytes([byte]) for byte in b"{}()[]:,'\"\\0123456789 -+_.LxeTf\n\r\t#<>|\xc3"] + [
        b"True",
        b"'''",
        b"0x",
        b"(1)",
        b"u'",
        b"\\\n",
    ]
    more = [
        case for case in mutated(seeds, pieces, CASES) if case[1][2:3] == b":" and case[1][:2] in (b"10", b"20", b"30")
    ]
    return list(dict.fromkeys(cases + more))


def write(name: str, cases: list, verdict) -> None:
    with open(FOLDER / name, "w") as file:
        for data, header in cases:
            said, contents = verdict(data, header)
            print(said, data, quoted(header) or "%", contents or "%", file=file)


write("safetensors_headers.txt", safetensors_cases(), safetensors_verdict)
write("npy_headers.txt", npy_cases(), npy_verdict)
