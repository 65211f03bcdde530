use crate::collection::FileInput;
use std::io::{self, Read, Write};

use expect_test::{Expect, expect};
use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::rows::{quote_text, validate_record_id};
use super::{FileLine, FileSizeLimits, LineReader};
use crate::error::Error;

/// Returns every line with its number, unusable ones with `!` and the reason, and at the end the
/// error if the file cannot be read to its end.
fn read(bytes: impl Read, bounds: FileSizeLimits) -> String {
    let mut out = String::new();
    if let Err(error) = read_into(&mut out, bytes, bounds) {
        out += &format!("{error}\n");
    }
    out
}

fn read_into(out: &mut String, bytes: impl Read, bounds: FileSizeLimits) -> Result<(), Error> {
    let mut progress = |_| ();
    let mut lines = LineReader::open(FileInput::new("corpus.txt", bytes, &mut progress), bounds)?;
    while let Some(FileLine { number, text }) = lines.next_line()? {
        match text {
            Ok(text) => *out += &format!("{number} {text}\n"),
            Err(reason) => *out += &format!("{number} ! {reason}\n"),
        }
    }
    Ok(())
}

fn check(bytes: impl AsRef<[u8]>, expected: Expect) {
    expected.assert_eq(&read(bytes.as_ref(), FileSizeLimits::FILES));
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    compress_to_vec(text, CompressionLevel::Fastest)
}

/// Four lines that compress well enough for real compressed blocks.
fn four_lines() -> Vec<u8> {
    let line = |it: usize| {
        (0..60)
            .map(|at| format!("{} ", at * at % (7 * it)))
            .collect::<String>()
    };
    (1..=4)
        .map(|it| line(it) + "\n")
        .collect::<String>()
        .into_bytes()
}

/// Returns one byte at a time, as a slow Blob might.
struct Trickle<'a>(&'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n_bytes = into.len().min(1);
        self.0.read(&mut into[..n_bytes])
    }
}

#[test]
fn lines_end_in_any_way() {
    check(
        "unix\nwindows\r\n\nan empty one above, no end here",
        expect![[r#"
            1 unix
            2 windows
            3 
            4 an empty one above, no end here
        "#]],
    );
    check("", expect![""]);
}

#[test]
fn only_the_byte_order_mark_at_the_start_is_dropped() {
    let lines = read(
        "\u{FEFF}one\n\u{FEFF}two\n".as_bytes(),
        FileSizeLimits::FILES,
    );
    assert_eq!(lines, "1 one\n2 \u{FEFF}two\n");
}

#[test]
fn a_line_that_is_not_utf8_costs_itself() {
    check(
        b"fine\ncaf\xE9\nfine again\n",
        expect![[r#"
            1 fine
            2 ! byte 4 of the line (0xE9) is not valid UTF-8; save the file as UTF-8
            3 fine again
        "#]],
    );
}

#[test]
fn nul_bytes_controls_and_markup_are_text() {
    let text = "a\0b <script>alert(1)</script> ../../etc \u{202E}x\n";
    assert_eq!(
        read(text.as_bytes(), FileSizeLimits::FILES),
        format!("1 {text}")
    );
}

#[test]
fn a_line_of_50_mb_is_not_held() {
    let long = io::repeat(b'x').take(50_000_000);
    let bytes = b"first\n".chain(long).chain(&b"\nlast\n"[..]);
    expect![[r#"
        1 first
        2 ! a line of 50 MB, longer than the 16 MB allowed per row; is a line break missing?
        3 last
    "#]]
    .assert_eq(&read(bytes, FileSizeLimits::FILES));

    let mut progress = |_| ();
    let bytes = io::repeat(b'x').take(50_000_000);
    let mut lines = LineReader::open(
        FileInput::new("corpus.txt", bytes, &mut progress),
        FileSizeLimits::FILES,
    )
    .unwrap();
    while lines.next_line().unwrap().is_some() {}
    assert!(lines.buffer.capacity() as u64 <= 2 * FileSizeLimits::FILES.line_bytes + 1);
}

#[test]
fn a_line_may_be_as_long_as_the_bound() {
    let bounds = FileSizeLimits {
        line_bytes: 4,
        ..FileSizeLimits::FILES
    };
    expect![[r#"
        1 four
        2 ! a line of 6 bytes, longer than the 4 bytes allowed per row; is a line break missing?
        3 four
    "#]]
    .assert_eq(&read(&b"four\nfives\nfour"[..], bounds));
}

#[test]
fn archives_are_told_by_their_first_bytes() {
    let plain = four_lines();
    let expected = read(&plain[..], FileSizeLimits::FILES);
    assert_eq!(expected.lines().count(), 4);
    let members = [gzip(&plain[..100]), gzip(b""), gzip(&plain[100..])].concat();
    let skipped = [&[0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0], &b"abc"[..]].concat();
    let frames = [
        skipped.clone(),
        zstd(&plain[..100]),
        zstd(b""),
        skipped,
        zstd(&plain[100..]),
    ];
    for packed in [
        plain.clone(),
        gzip(&plain),
        members,
        zstd(&plain),
        frames.concat(),
    ] {
        assert_eq!(read(&packed[..], FileSizeLimits::FILES), expected);
        assert_eq!(read(Trickle(&packed), FileSizeLimits::FILES), expected);
    }
}

/// The output of `printf 'one
/// two
/// three …
/// ' | zstd -19` with a checksum; `zstd` 1.5.
const BY_THE_PROGRAM: &[u8] = &[
    0x28, 0xB5, 0x2F, 0xFD, 0x04, 0x68, 0xAD, 0x00, 0x00, 0x78, 0x6F, 0x6E, 0x65, 0x0A, 0x74, 0x77,
    0x6F, 0x0A, 0x74, 0x68, 0x72, 0x65, 0x65, 0x20, 0x0A, 0x01, 0x00, 0xB9, 0x8B, 0x12, 0xDE, 0xEF,
    0x5A, 0xF6,
];

#[test]
fn the_zstd_program_is_understood() {
    check(
        BY_THE_PROGRAM,
        expect![[r#"
            1 one
            2 two
            3 three three three three three three
        "#]],
    );
}

#[test]
fn a_cut_off_archive_says_where() {
    let cut = |packed: Vec<u8>| packed[..packed.len() * 3 / 4].to_vec();
    check(
        cut(gzip(&four_lines())),
        expect![[r#"
        1 0 1 4 2 2 4 1 0 1 4 2 2 4 1 0 1 4 2 2 4 1 0 1 4 2 2 4 1 0 1 4 2 2 4 1 0 1 4 2 2 4 1 0 1 4 2 2 4 1 0 1 4 2 2 4 1 0 1 4 2 
        2 0 1 4 9 2 11 8 7 8 11 2 9 4 1 0 1 4 9 2 11 8 7 8 11 2 9 4 1 0 1 4 9 2 11 8 7 8 11 2 9 4 1 0 1 4 9 2 11 8 7 8 11 2 9 4 1 0 1 4 9 
        corpus.txt: reading stopped at line 3: the gzip archive is cut off, copy it again
    "#]],
    );
    check(
        cut(zstd(&four_lines())),
        expect![[r#"
        corpus.txt: reading stopped at line 1: the zstd archive is cut off, copy it again
    "#]],
    );
    check(
        &BY_THE_PROGRAM[..BY_THE_PROGRAM.len() - 1],
        expect![[r#"
        corpus.txt: reading stopped at line 1: the zstd archive is cut off, copy it again
    "#]],
    );
}

#[test]
fn no_prefix_and_no_flipped_bit_is_a_panic() {
    let plain = four_lines();
    for packed in [gzip(&plain), zstd(&plain), BY_THE_PROGRAM.to_vec()] {
        let whole = read(&packed[..], FileSizeLimits::FILES);
        for n_bytes in 0..packed.len() {
            let prefix = read(&packed[..n_bytes], FileSizeLimits::FILES);
            assert_ne!(
                prefix, whole,
                "a prefix of {n_bytes} bytes passed for the whole"
            );
            assert!(
                n_bytes < 4 || prefix.contains("cut off"),
                "{n_bytes}: {prefix}"
            );
        }
        for bit in 0..packed.len() * 8 {
            let mut flipped = packed.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            read(&flipped[..], FileSizeLimits::FILES);
        }
    }
}

#[test]
fn a_checksum_that_does_not_fit_is_damage() {
    let flipped = |mut packed: Vec<u8>, from_end: usize| {
        let at = packed.len() - from_end;
        packed[at] ^= 1;
        packed
    };
    check(
        flipped(gzip(b"one\ntwo\n"), 8),
        expect![[r#"
        1 one
        2 two
        corpus.txt: reading stopped at line 3: the gzip archive is damaged, copy it again
    "#]],
    );
    check(
        flipped(BY_THE_PROGRAM.to_vec(), 1),
        expect![[r#"
        1 one
        2 two
        3 three three three three three three
        corpus.txt: reading stopped at line 4: the zstd archive is damaged, copy it again
    "#]],
    );
    check(
        [gzip(b"one\n"), b"two\n".to_vec()].concat(),
        expect![[r#"
        1 one
        corpus.txt: reading stopped at line 2: the gzip archive is cut off, copy it again
    "#]],
    );
    check(
        [zstd(b"one\n"), b"two and three\n".to_vec()].concat(),
        expect![[r#"
            1 one
            corpus.txt: reading stopped at line 2: the zstd archive is damaged, copy it again
        "#]],
    );
}

#[test]
fn a_bomb_is_defused() {
    let one_line = vec![b'x'; 70 << 20];
    check(
        gzip(&one_line),
        expect![[r#"
            corpus.txt: reading stopped at line 1: the first 65 kB expand to 67 MB, more than 200 times as much; if you trust the file, decompress it first
        "#]],
    );
    check(
        zstd(&one_line),
        expect![[r#"
            corpus.txt: reading stopped at line 1: the first 2253 bytes expand to 67 MB, more than 200 times as much; if you trust the file, decompress it first
        "#]],
    );

    let bounds = FileSizeLimits {
        free_bytes: 1000,
        expansion: 4,
        total_bytes: 3000,
        line_bytes: 100,
    };
    let check = |bytes: &[u8], expected: Expect| {
        expected.assert_eq(last(&read(bytes, bounds)));
    };
    let lines = "a line of a bomb\n".repeat(100);
    check(
        &gzip(lines.as_bytes()),
        expect![
            "corpus.txt: reading stopped at line 1: the first 58 bytes expand to 1700 bytes, more than 4 times as much; if you trust the file, decompress it first"
        ],
    );
    check(
        lines.repeat(2).as_bytes(),
        expect![
            "corpus.txt: reading stopped at line 1: there are more than 3000 bytes, split the file"
        ],
    );
    check(lines.as_bytes(), expect!["100 a line of a bomb"]);
}

fn last(lines: &str) -> &str {
    lines.lines().last().unwrap_or_default()
}

#[test]
fn a_zstd_frame_may_not_ask_for_much() {
    // Magic number, descriptor, window of 2^(10 + 18) bytes.
    check(
        [0x28, 0xB5, 0x2F, 0xFD, 0x00, 18 << 3, 1, 0, 0],
        expect![[r#"
            corpus.txt: reading stopped at line 1: the zstd archive needs a window of 268 MB, more than the allowed 134 MB; recompress it without `--long`
        "#]],
    );
    // A single segment of 4 GB, without its content.
    check(
        [0x28, 0xB5, 0x2F, 0xFD, 0xA0, 0, 0, 0, 0xFF, 1, 0, 0],
        expect![[r#"
            corpus.txt: reading stopped at line 1: the zstd archive needs a window of 4278 MB, more than the allowed 134 MB; recompress it without `--long`
        "#]],
    );
    // Dictionary 7.
    check(
        [0x28, 0xB5, 0x2F, 0xFD, 0x01, 0, 7, 1, 0, 0],
        expect![[r#"
            corpus.txt: reading stopped at line 1: the zstd archive uses a dictionary; recompress it without one
        "#]],
    );
}

#[test]
fn a_zstd_block_may_not_hold_more_than_a_block() {
    // 16 raw bytes, then a block of one literal and 60,000 sequences, each of which repeats 131,074
    // bytes: 7.8 GB in a file of 120 kB, contrary to RFC 8878, 3.1.1.2.4.
    let block = |kind: u32, content: &[u8]| {
        let header = (content.len() as u32) << 3 | kind;
        [&header.to_le_bytes()[..3], content].concat()
    };
    let n_sequences: u16 = 60_000;
    let mut bomb = vec![0b0000_1001, b'x'];
    bomb.push(255);
    bomb.extend((n_sequences - 0x7F00).to_le_bytes());
    bomb.extend([0b0101_0100, 0, 0, 52]); // every sequence has the same three codes
    bomb.extend(vec![0xFF; usize::from(n_sequences) * 2]);
    bomb.push(1);
    let frame = [
        &[0x28, 0xB5, 0x2F, 0xFD, 0x00, 13 << 3][..],
        &block(0b000, b"0123456789abcdef"),
        &block(0b101, &bomb),
    ];
    check(
        frame.concat(),
        expect![[r#"
        corpus.txt: reading stopped at line 1: the zstd archive is damaged, copy it again
    "#]],
    );
}

#[test]
fn other_archives_and_encodings_are_named() {
    check(
        b"PK\x03\x04\x14\0\0\0",
        expect![[r#"
        corpus.txt: this is a zip archive, give it unpacked or as .gz or .zst
    "#]],
    );
    check(
        b"\xFD7zXZ\0\0\x04",
        expect![[r#"
        corpus.txt: this is an xz archive, give it unpacked or as .gz or .zst
    "#]],
    );
    check(
        b"BZh91AY&SY",
        expect![[r#"
        corpus.txt: this is a bzip2 archive, give it unpacked or as .gz or .zst
    "#]],
    );
    check(
        b"\xFF\xFEa\0b\0",
        expect![[r#"
        corpus.txt: this is UTF-16, save it as UTF-8
    "#]],
    );
    check(
        "BZh9 and PK are words\n",
        expect![[r#"
        1 BZh9 and PK are words
    "#]],
    );
}

#[test]
fn a_source_that_fails_is_told_from_damage() {
    struct Fails;
    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the disk went away",
            ))
        }
    }
    let check = |packed: &[u8], expected: Expect| {
        let half = &packed[..packed.len() / 2];
        expected.assert_eq(last(&read(half.chain(Fails), FileSizeLimits::FILES)));
    };
    let plain = four_lines();
    check(
        &plain,
        expect!["corpus.txt: reading stopped at line 3: the disk went away"],
    );
    check(
        &gzip(&plain),
        expect!["corpus.txt: reading stopped at line 2: the disk went away"],
    );
    check(
        &zstd(&plain),
        expect!["corpus.txt: reading stopped at line 1: the disk went away"],
    );
    check(b"", expect!["corpus.txt: the disk went away"]);
}

#[test]
fn progress_counts_the_bytes_of_the_file() {
    let packed = gzip(&four_lines());
    let mut heard = Vec::new();
    let mut progress = |n_bytes| heard.push(n_bytes);
    let mut lines = LineReader::open(
        FileInput::new("c", Trickle(&packed), &mut progress),
        FileSizeLimits::FILES,
    )
    .unwrap();
    while lines.next_line().unwrap().is_some() {}
    drop(lines);
    assert_eq!(heard, (1..=packed.len() as u64).collect::<Vec<_>>());
}

#[test]
fn ids_are_whole_words() {
    for id in [
        "7",
        "MED-10",
        "D1-0",
        "<script>alert(1)</script>",
        "../../etc/passwd",
        "日本",
        "é",
    ] {
        assert_eq!(validate_record_id(id), Ok(()), "{id}");
    }
    let reasons = [
        "",
        "two words",
        "a\u{A0}b",
        "nul\0",
        "\u{1B}[31m",
        "\u{202E}gpj.exe",
    ]
    .map(|id| validate_record_id(id).unwrap_err())
    .join("\n");
    expect![[r#"
        the id is empty
        the id `two words` contains whitespace (U+0020); remove it
        the id `a b` contains whitespace (U+00A0); remove it
        the id `nul\u{0}` contains a control character (U+0000); remove it
        the id `\u{1b}[31m` contains a control character (U+001B); remove it
        the id `\u{202e}gpj.exe` contains a bidirectional control character (U+202E); remove it"#]]
    .assert_eq(&reasons);
    assert_eq!(validate_record_id(&"é".repeat(256)), Ok(()));
    expect![
        "the id `éééééééééééééééééééééééééééééééééééééééé…` has 514 bytes; at most 512 are allowed"
    ]
    .assert_eq(&validate_record_id(&"é".repeat(257)).unwrap_err());
}

#[test]
fn a_message_holds_no_raw_text() {
    expect![[r#"`\u{1b}[31m\u{202e}\u{a}<b>`"#]].assert_eq(&quote_text("\u{1B}[31m\u{202E}\n<b>"));
}
