//! Pairs to scores: by a formula, from a file, with a model.

use std::path::Path;

use rayon::prelude::*;
use shared::collection::Collection;
use shared::collection::trec::BroughtScores;
use shared::index::Index;
use shared::probe::mine::Text;
use shared::rank::Ranker;
use shared::score::{Pairs, RankerAbout, RankerKind, Scores, lexical};

use crate::config::RankerSpec;
use crate::error::Error;
use crate::import;
use crate::models::{self, Listed, Models};
use crate::progress::Bar;
use crate::store::draft::Draft;

/// Pairs to score, and where their texts come from.
pub(crate) struct Scoring<'a> {
    /// Where texts and queries lie.
    pub collection: &'a Collection,
    /// Of the whole collection.
    pub index: &'a Index,
    /// By number.
    pub texts: &'a [Text],
    /// Unique.
    pub pairs: &'a Pairs,
    /// Pairs that a model scores once more for its certificate: [`shared::score::certificate::sample`].
    pub sample: &'a [u32],
    /// Where score files are looked for.
    pub folder: &'a Path,
    /// Where a model's scores are kept until it has scored every pair; none keeps them nowhere.
    pub drafts: Option<&'a Path>,
}

/// Scores all pairs with a ranker.
pub(crate) fn score(
    scoring: &Scoring<'_>,
    ranker: &RankerSpec,
    models: &Models,
) -> Result<Scores, Error> {
    match ranker {
        RankerSpec::Formula(formula) => score_formula(scoring, formula),
        RankerSpec::Scores(file) => score_file(scoring, file),
        RankerSpec::Model(spec) => {
            let model = models.get(spec)?;
            score_model(scoring, &model)
        }
    }
}

fn score_formula(scoring: &Scoring<'_>, ranker: &Ranker) -> Result<Scores, Error> {
    let Scoring {
        collection,
        index,
        texts,
        pairs,
        ..
    } = scoring;
    let shards = (0..pairs.n_queries())
        .into_par_iter()
        .map(|query| {
            let text = &collection.queries[query].text;
            lexical::score_query(index, ranker, text, lexical::texts_of(pairs, texts, query))
        })
        .collect();
    Ok(lexical::collect(ranker, shards, pairs)?)
}

fn score_file(scoring: &Scoring<'_>, file: &str) -> Result<Scores, Error> {
    let (name, brought) = read_scores(file, scoring.folder)?;
    brought_scores(scoring, &name, &brought)
}

/// The scores of a file, with its name.
pub(super) fn read_scores(file: &str, folder: &Path) -> Result<(String, BroughtScores), Error> {
    let path = import::locate(file, folder)?;
    let brought = import::with_bar(&path, |name, bytes, progress| {
        shared::collection::trec::read_scores(name, bytes, progress)
    })?;
    let name = path.file_name().unwrap_or_default();
    Ok((name.to_string_lossy().into_owned(), brought))
}

/// Scores that somebody brought, put in the order of the pairs.
fn brought_scores(
    scoring: &Scoring<'_>,
    name: &str,
    brought: &BroughtScores,
) -> Result<Scores, Error> {
    use std::fmt::Write;
    let values = scoring.pairs.iter().map(|(query, text)| {
        let text = scoring.texts[text as usize];
        let id = text.id(&scoring.collection.docs[text.doc() as usize].id);
        brought
            .get(&scoring.collection.queries[query].id)?
            .get(&id)
            .copied()
    });
    let values: Vec<Option<f64>> = values.collect();
    let mut content = String::new();
    for (query, texts) in brought {
        for (text, score) in texts {
            let _ = writeln!(content, "{query}\t{text}\t{:016x}", score.to_bits());
        }
    }
    let about = RankerAbout {
        spec: format!("scores:{name}"),
        label: name.split('.').next().unwrap_or(name).to_owned(),
        detail: "from a score file".to_owned(),
        kind: RankerKind::File,
        fingerprint: shared::collection::text_hash(&content),
        note: None,
    };
    Ok(Scores::new(about, values, scoring.pairs)?)
}

/// Scores all pairs with a model.
pub(crate) fn score_model(scoring: &Scoring<'_>, model: &models::Ranker) -> Result<Scores, Error> {
    let Scoring {
        collection,
        texts,
        pairs,
        sample,
        drafts,
        ..
    } = scoring;
    let mut needed: Vec<u32> = pairs.iter().map(|it| it.1).collect();
    needed.sort_unstable();
    needed.dedup();
    let bodies: Vec<String> = needed
        .iter()
        .map(|&it| texts[it as usize])
        .map(|it| it.body(&collection.docs[it.doc() as usize].body()))
        .collect();
    let queries: Vec<String> = collection
        .queries
        .iter()
        .map(|it| it.text.clone())
        .collect();
    let place = |text: u32| needed.partition_point(|&it| it < text) as u32;
    let list: Vec<(u32, u32)> = pairs
        .iter()
        .map(|(query, text)| (query as u32, place(text)))
        .collect();
    let listed = Listed {
        queries: &queries,
        texts: &bodies,
        pairs: &list,
    };
    let mut draft = match drafts {
        Some(folder) => Draft::open(folder, &listed.hash(model))?,
        None => Draft::none(),
    };
    let bar = Bar::of(&model.about.spec, list.len() as u64, "pairs");
    let scored = model.score_pairs(&listed, &mut draft, |done| bar.at(done as u64))?;
    let values = scored.iter().map(|it| Some(it.score)).collect();
    let mut scores = Scores::new(model.about.clone(), values, pairs)?;
    scores.truncated = scored
        .iter()
        .filter(|it| it.truncated)
        .map(|it| it.pair)
        .collect();
    scores.certificate = Some(model.certify(&listed, sample)?);
    Ok(scores)
}
