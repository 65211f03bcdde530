//! The peer tantivy: the same texts and queries as shared/examples/lexical.rs, one thread.
//!
//! `tantivy-peer FOLDER` reads `texts.jsonl` and `queries.jsonl` (a JSON string a line) there,
//! then does what each line of standard input names and prints a line of JSON for it.

mod clock;

use std::error::Error;
use std::io::{BufRead, Write};
use std::path::Path;

use serde_json::json;
use tantivy::collector::TopDocs;
use tantivy::directory::RamDirectory;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{
    Language, LowerCaser, Stemmer, TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager,
};
use tantivy::{Index, Searcher, SingleSegmentIndexWriter, TantivyDocument, Term};

use clock::Clock;

/// Enough for one segment.
const MEMORY: usize = 400_000_000;
const ROUNDS: u32 = 50;
const TOP: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: tantivy-peer FOLDER")?;
    let texts = strings(&Path::new(&folder).join("texts.jsonl"))?;
    let queries = strings(&Path::new(&folder).join("queries.jsonl"))?;
    let (index, _) = by_one_thread(&texts)?;
    let searcher = index.reader()?.searcher();
    let queries: Vec<BooleanQuery> = queries.iter().map(|it| query(&index, it)).collect();
    for task in std::io::stdin().lock().lines() {
        let answer = match task?.as_str() {
            "index" => {
                let (_, seconds) = by_one_thread(&texts)?;
                let n_terms: u64 = searcher
                    .segment_readers()
                    .iter()
                    .map(|it| it.inverted_index(field(&index)).map(|it| it.total_num_tokens()))
                    .sum::<Result<u64, _>>()?;
                json!({ "seconds": seconds, "n_terms": n_terms })
            }
            "top" => json!({ "seconds": search(&searcher, &queries)? }),
            "version" => json!({ "version": tantivy::version_string() }),
            unknown => return Err(format!("unknown task `{unknown}`").into()),
        };
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn strings(file: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let text = std::fs::read_to_string(file)?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn schema() -> Schema {
    let mut builder = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("porter2")
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    builder.add_text_field("body", TextOptions::default().set_indexing_options(indexing));
    builder.build()
}

fn field(index: &Index) -> Field {
    index.schema().get_field("body").expect("the schema has it")
}

fn analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(Alnum::default())
        .filter(LowerCaser)
        .filter(Stemmer::new(Language::English))
        .build()
}

/// With tantivy's writer that has no thread beside the caller's; `finalize` commits.
fn by_one_thread(texts: &[String]) -> Result<(Index, f64), Box<dyn Error>> {
    let start = Clock::start();
    let schema = schema();
    let body = schema.get_field("body")?;
    let tokenizers = TokenizerManager::default();
    tokenizers.register("porter2", analyzer());
    let mut writer: SingleSegmentIndexWriter<TantivyDocument> = Index::builder()
        .schema(schema)
        .tokenizers(tokenizers)
        .single_segment_index_writer(RamDirectory::create(), MEMORY)?;
    for text in texts {
        let mut document = TantivyDocument::default();
        document.add_text(body, text);
        writer.add_document(document)?;
    }
    let index = writer.finalize()?;
    Ok((index, start.seconds()))
}

fn query(index: &Index, text: &str) -> BooleanQuery {
    let body = field(index);
    let mut analyzer = analyzer();
    let mut stream = analyzer.token_stream(text);
    let mut terms: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    while stream.advance() {
        let term = Term::from_field_text(body, &stream.token().text);
        let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
        terms.push((Occur::Should, Box::new(query)));
    }
    BooleanQuery::new(terms)
}

/// Seconds for all queries once.
fn search(searcher: &Searcher, queries: &[BooleanQuery]) -> Result<f64, Box<dyn Error>> {
    let collector = TopDocs::with_limit(TOP).order_by_score();
    let start = Clock::start();
    for _ in 0..ROUNDS {
        for query in queries {
            std::hint::black_box(searcher.search(query, &collector)?);
        }
    }
    Ok(start.seconds() / f64::from(ROUNDS))
}

/// tantivy's own `SimpleTokenizer` with letters and digits of ASCII alone, as our `alnum`.
#[derive(Clone, Default)]
struct Alnum {
    token: Token,
}

struct AlnumStream<'a> {
    text: &'a str,
    at: usize,
    token: &'a mut Token,
}

impl Tokenizer for Alnum {
    type TokenStream<'a> = AlnumStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> AlnumStream<'a> {
        self.token.reset();
        AlnumStream { text, at: 0, token: &mut self.token }
    }
}

impl TokenStream for AlnumStream<'_> {
    fn advance(&mut self) -> bool {
        self.token.text.clear();
        self.token.position = self.token.position.wrapping_add(1);
        let bytes = self.text.as_bytes();
        let rest = &bytes[self.at..];
        let Some(skip) = rest.iter().position(u8::is_ascii_alphanumeric) else { return false };
        let start = self.at + skip;
        let length = bytes[start..].iter().position(|it| !it.is_ascii_alphanumeric());
        let end = length.map_or(bytes.len(), |it| start + it);
        self.token.offset_from = start;
        self.token.offset_to = end;
        self.token.text.push_str(&self.text[start..end]);
        self.at = end;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}
