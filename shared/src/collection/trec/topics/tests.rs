use crate::collection::FileInput;
use expect_test::{Expect, expect};

use super::read_trec_topics;

/// Compares the accepted queries and the messages about topics with `expected`.
fn check(file: impl AsRef<[u8]>, expected: Expect) {
    let (queries, reading) =
        read_trec_topics(FileInput::without_progress("topics.txt", file.as_ref())).unwrap();
    assert_eq!(reading.n_rows, queries.len() as u64);
    let queries = queries
        .iter()
        .map(|it| format!("{:?} {:?}\n", it.id, it.text));
    expected.assert_eq(&(queries.collect::<String>() + &reading.issues_as_lines()));
}

#[test]
fn the_title_is_the_query() {
    check(
        "
<top>

<num> Number: 301
<title> International Organized Crime

<desc> Description:
Identify organizations that participate in crime.

<narr> Narrative: A relevant <title is not a tag.
</top>

<top><num> Number: 302 <title>
Poliomyelitis
  and Post-Polio
<desc> Description: x </top>
<top>
<head> Tipster Topic Description
<num> Number:  051
<dom> Domain:  International Economics
<title> Topic:  Airbus Subsidies
</top>
<top><num>c1</num><title>closed & <script>alert(1)</script> tags</title></top>
<top><num> Number: 303 <title> without an end
",
        expect![[r#"
            "301" "International Organized Crime"
            "302" "Poliomyelitis and Post-Polio"
            "051" "Airbus Subsidies"
            "c1" "closed & <script>alert(1)</script> tags"
            "303" "without an end"
        "#]],
    );
}

#[test]
fn damaged_topics_are_refused() {
    check(
        b"<top><num> Number: 1 <title> first </top>
<top><num> Number: 2 <desc> no title </top>
<top><title> no number </top>
<top><num> Number: 1 <title> again </top>
<top><num> Number: 1 2 <title> two words </top>
<top><num> Number: 3 <title> caf\xE9
and more </top>
",
        expect![[r#"
            "1" "first"
            refused: topics.txt, line 2: the query is empty
            refused: topics.txt, line 3: the id is empty
            refused: topics.txt, line 4: the id `1` is already used in line 1; the first row is kept
            refused: topics.txt, line 5: the id `1 2` contains whitespace (U+0020); remove it
            refused: topics.txt, line 6: byte 33 of the line (0xE9) is not valid UTF-8; save the file as UTF-8
        "#]],
    );
}

#[test]
fn topics_may_be_a_table() {
    check(
        "1\twhat is a <top> hat\n2\twith\ta tab\n3 no tab\n4\t \n1\tagain\nq 5\tspace\n6\tnul \0\n",
        expect![[r#"
            "1" "what is a <top> hat"
            "2" "with\ta tab"
            "6" "nul \0"
            refused: topics.txt, line 3: no tab: a row is a query's id, a tab and its text
            refused: topics.txt, line 4: the query is empty
            refused: topics.txt, line 5: the id `1` is already used in line 1; the first row is kept
            refused: topics.txt, line 6: the id `q 5` contains whitespace (U+0020); remove it
            warned: topics.txt, line 7: the text contains NUL characters; they are kept
        "#]],
    );
}
