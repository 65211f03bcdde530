//! Detects the kind of a file from its name and first lines.

use shared::api::worker::FileKind;

/// Returns the kind of a file, if it can be detected.
pub(crate) fn detect_file_kind(name: &str, lines: &[String]) -> Option<FileKind> {
    let name = name.to_lowercase();
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    let about_queries = ["quer", "topic", "question"]
        .iter()
        .any(|it| name.contains(it));
    let first = lines.iter().map(|it| it.trim()).find(|it| !it.is_empty())?;
    if first.starts_with('{') {
        let has = |keys: [&str; 2]| {
            let key = |it: &&str| first.contains(&format!("\"{it}\":"));
            keys.iter().all(key)
        };
        if first.contains("\"paraphrase\":") {
            return Some(FileKind::SymmetricPairs);
        }
        if has(["a", "b"]) || has(["src", "refs"]) {
            return Some(FileKind::PreferencePairs);
        }
        let queries =
            about_queries || (!first.contains("\"title\"") && mean_words(lines) < MAX_QUERY_WORDS);
        let corpus = ["corpus", "collection", "passages", "docs"]
            .iter()
            .any(|it| name.contains(it));
        return Some(if queries && !corpus {
            FileKind::QueriesJsonl
        } else {
            FileKind::CorpusJsonl
        });
    }
    if first.starts_with('<') {
        return Some(FileKind::Topics);
    }
    let columns: Vec<&str> = first.split_whitespace().collect();
    let whole = |at: usize| columns.get(at).is_some_and(|it| it.parse::<i64>().is_ok());
    let number = |at: usize| columns.get(at).is_some_and(|it| it.parse::<f64>().is_ok());
    let numbers =
        |from: usize, columns: &[&str]| columns[from..].iter().all(|it| it.parse::<f32>().is_ok());
    match columns.len() {
        // GloVe, or word2vec after its line with the numbers of words and dimensions.
        FEWEST_DIMS.. if numbers(1, &columns) => return Some(FileKind::Vectors),
        2 if whole(0) && whole(1) && has_vectors(name, lines, columns[1]) => {
            return Some(FileKind::Vectors);
        }
        3 if columns[..2] == ["query-id", "corpus-id"] => return Some(FileKind::Qrels),
        4 if whole(3) && whole(1) => return Some(FileKind::Qrels),
        6.. if whole(3) && number(4) && columns[1].len() <= 3 => return Some(FileKind::Run),
        _ => (),
    }
    match first.split('\t').count() {
        2 if name.contains("split") && columns.len() == 2 => Some(FileKind::Splits),
        1 if name.ends_with(".txt") && !about_queries => Some(FileKind::DocumentLines),
        1 => None,
        2 if about_queries => Some(FileKind::Topics),
        2 if mean_words(lines) < MAX_QUERY_WORDS => Some(FileKind::Topics),
        2 => Some(FileKind::PassagesTsv),
        4 if first.contains("://") => Some(FileKind::DocumentsTsv),
        _ => None,
    }
}

/// The minimum number of dimensions; rows with fewer numbers are not word vectors.
const FEWEST_DIMS: usize = 10;

/// Returns whether word vectors, as text or bytes, follow a line `words dimensions`.
fn has_vectors(name: &str, lines: &[String], n_dims: &str) -> bool {
    let second = lines.get(1).map(|it| it.split_whitespace().count());
    let n_dims = n_dims.parse().unwrap_or(0_usize);
    second == Some(n_dims + 1) || name.contains("vec") || name.ends_with(".bin")
}

/// Rows with fewer words on average are queries. Queries have 2 to 10 words, passages 30 and more.
const MAX_QUERY_WORDS: usize = 16;

/// Returns the mean number of words per row.
fn mean_words(lines: &[String]) -> usize {
    let all: usize = lines.iter().map(|it| it.split_whitespace().count()).sum();
    all / lines.len().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, line: &str, kind: Option<FileKind>) {
        assert_eq!(detect_file_kind(name, &[line.to_owned()]), kind, "{name}");
    }

    #[test]
    fn the_usual_files_are_told_apart() {
        check(
            "corpus.jsonl.gz",
            r#"{"_id":"d1","title":"","text":"tide"}"#,
            Some(FileKind::CorpusJsonl),
        );
        check(
            "queries.jsonl",
            r#"{"_id":"q1","text":"tide"}"#,
            Some(FileKind::QueriesJsonl),
        );
        check(
            "test.jsonl",
            r#"{"_id":"q1","text":"why tides"}"#,
            Some(FileKind::QueriesJsonl),
        );
        check(
            "test.tsv",
            "query-id\tcorpus-id\tscore",
            Some(FileKind::Qrels),
        );
        check("qrels.txt", "19335 0 1017759 0", Some(FileKind::Qrels));
        check(
            "bm25.run",
            "19335 Q0 8412684 1 11.3 anserini",
            Some(FileKind::Run),
        );
        check("splits.tsv", "q1\ttrain", Some(FileKind::Splits));
        let pairs = [
            (
                r#"{"_id": "1", "query": "q", "a": "good", "b": "bad"}"#,
                FileKind::PreferencePairs,
            ),
            (
                r#"{"_id":"1","src":"it go","refs":["it goes"]}"#,
                FileKind::PreferencePairs,
            ),
            (
                r#"{"_id": "1", "paraphrase": 1, "a": "one", "b": "two"}"#,
                FileKind::SymmetricPairs,
            ),
        ];
        for (line, kind) in pairs {
            check("dev.jsonl", line, Some(kind));
        }
        check("topics.txt", "<top>", Some(FileKind::Topics));
        check(
            "queries.tsv",
            "19335\tanthropological definition",
            Some(FileKind::Topics),
        );
        check(
            "msmarco-docs.tsv",
            "D1\thttps://a.b\ttitle\tbody",
            Some(FileKind::DocumentsTsv),
        );
        check(
            "notes.txt",
            "The tide comes twice a day",
            Some(FileKind::DocumentLines),
        );
    }

    #[test]
    fn word_vectors_are_known_by_their_numbers() {
        let row = format!("the {}", ["0.25"; 50].join(" "));
        check("glove.6B.50d.txt", &row, Some(FileKind::Vectors));
        let lines = ["2 3".to_owned(), "the 1 0 -1".to_owned()];
        assert_eq!(
            detect_file_kind("words.txt", &lines),
            Some(FileKind::Vectors)
        );
        assert_eq!(
            detect_file_kind("words.bin", &lines[..1]),
            Some(FileKind::Vectors)
        );
        assert_eq!(detect_file_kind("pairs.tsv", &lines[..1]), None);
    }

    #[test]
    fn what_cannot_be_told_is_asked() {
        check("data.bin", "?", None);
        assert_eq!(detect_file_kind("corpus.jsonl", &[]), None);
    }
}
