//! The files of a study: `study.toml` (what it was made from), `instances.parquet`,
//! `scores.parquet`, and `study.json` with what is shown beside them.
//!
//! A study is written into a folder beside its place and moved there, so it is whole or not
//! there; one that stood there before stays until that moment.

use std::fs;
use std::path::Path;

use shared::probe::Mined;
use shared::score::{RankerAbout, Scores};
use shared::study::Study;

use crate::error::Error;
use crate::store::DataFolder;
use crate::store::instances::{self, Ids, Origin};
use crate::store::scores::StudyScores;

const WAY_OUT: &str = "make room, or take another data folder by `--data`";

/// Writes a study.
pub(crate) fn save(data: &DataFolder, study: &Study) -> Result<(), Error> {
    let target = data.study(&study.definition.name)?;
    let parent = target.parent().unwrap_or(&target);
    let temporary = tempfile::tempdir_in(parent).map_err(Error::file(parent, WAY_OUT))?;
    let at = temporary.path();
    write(&at.join("study.toml"), study.definition.to_toml().as_bytes())?;
    let mined = Mined {
        texts: study.texts.clone(),
        pools: Vec::new(),
        instances: study.instances.clone(),
    };
    let ids = ids(study);
    instances::write(&at.join("instances.parquet"), &mined, &ids, &origin(study))?;
    StudyScores::of(study).write(&at.join("scores.parquet"))?;
    // What the columns hold is not written twice.
    let mut rest = study.clone();
    let rankers: Vec<RankerAbout> = rest.scores.drain(..).map(|it| it.ranker).collect();
    rest.instances.clear();
    let rest = serde_json::to_vec(&(rest, rankers)).map_err(|it| Error::Damaged {
        what: format!("study {}", study.definition.name),
        reason: it.to_string(),
    })?;
    write(&at.join("study.json"), &rest)?;
    let aside = tempfile::tempdir_in(parent).map_err(Error::file(parent, WAY_OUT))?;
    if target.exists() {
        let old = aside.path().join("old");
        fs::rename(&target, old).map_err(Error::file(&target, WAY_OUT))?;
    }
    fs::rename(temporary.keep(), &target).map_err(Error::file(&target, WAY_OUT))
}

/// Reads a study.
pub(crate) fn load(data: &DataFolder, name: &str) -> Result<Study, Error> {
    let folder = data.study(name)?;
    if !folder.is_dir() {
        return Err(shared::error::Error::unknown("study", name).into());
    }
    let path = folder.join("study.json");
    let json = fs::read(&path).map_err(Error::file(&path, "make the study again"))?;
    let damaged =
        |reason: String| Error::Damaged { what: format!("study {name}"), reason };
    let (mut study, rankers): (Study, Vec<RankerAbout>) =
        serde_json::from_slice(&json).map_err(|it| damaged(it.to_string()))?;
    if study.format != 1 {
        let reason = format!("layout {} is later than this version's 1", study.format);
        return Err(damaged(reason));
    }
    let (mined, origin) = instances::read(&folder.join("instances.parquet"), &ids(&study))?;
    if origin.hash != study.instances_hash {
        return Err(damaged("its instances are not its own; make it again".to_owned()));
    }
    // The file numbers only texts of instances; the study also has those of its pools.
    let place = |text| study.texts.binary_search(text).ok().map(|it| it as u32);
    let places: Option<Vec<u32>> = mined.texts.iter().map(place).collect();
    let places = places.ok_or_else(|| damaged("an instance has a text of its own".to_owned()))?;
    study.instances = mined.instances.iter().map(|it| it.renumbered(&places)).collect();
    let columns = StudyScores::read(&folder.join("scores.parquet"))?;
    for (at, ranker) in rankers.into_iter().enumerate() {
        let (values, truncated) = columns.of_ranker(at as u32, study.pairs.len());
        let mut scores = Scores::new(ranker, values, &study.pairs)?;
        scores.truncated = truncated;
        study.scores.push(scores);
    }
    Ok(study)
}

fn ids(study: &Study) -> Ids<'_> {
    Ids {
        queries: study.queries.iter().map(|it| it.id.as_str()).collect(),
        docs: study.docs.iter().map(|it| it.id.as_str()).collect(),
    }
}

fn origin(study: &Study) -> Origin {
    Origin {
        format: 1,
        software: study.software.clone(),
        collection_hash: study.collection_hash.clone(),
        hash: study.instances_hash.clone(),
        analyzer: study.definition.analyzer.clone(),
        pool: study.definition.pool.clone(),
        limits: study.definition.limits,
        n_queries: study.queries.len(),
        found: study.instances.iter().map(|it| (it.axiom, it.mode, it.found.clone())).collect(),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    use std::io::Write;
    let mut file = fs::File::create(path).map_err(Error::file(path, WAY_OUT))?;
    file.write_all(bytes).map_err(Error::file(path, WAY_OUT))?;
    file.sync_all().map_err(Error::file(path, WAY_OUT))
}
