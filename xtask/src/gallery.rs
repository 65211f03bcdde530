//! Makes the studies of the gallery whose data are at hand, and a static site of them.

use crate::paths::ProjectPaths;
use crate::{dist, process};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A study file with its page.
struct GalleryStudy {
    name: String,
    file: PathBuf,
    collection: String,
    matter: FrontMatter,
    page: String,
}

/// The front matter of a study's page.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontMatter {
    /// Whether the site has only ids, counts and scores of the study.
    #[serde(default)]
    without_texts: bool,
    /// The folders in `models/` that its rankers use.
    #[serde(default)]
    models: Vec<String>,
    /// The files that it needs besides those of the collection, in the same folder, packed or not.
    #[serde(default)]
    files: Vec<String>,
}

/// What is read of a study file.
#[derive(Deserialize)]
struct StudyFile {
    collection: String,
}

/// The sections that the page of a study has.
const SECTIONS: [&str; 4] = [
    "What it shows",
    "What to look at first",
    "License of the data",
    "How to get the data",
];

/// Makes all studies, or those that `args` names, and the site. Options are passed to `axioscope
/// site build`.
pub(crate) fn run(place: &ProjectPaths, args: &[String]) -> Result<()> {
    let is_option = |it: &String| it.starts_with('-');
    let n_names = args.iter().position(is_option).unwrap_or(args.len());
    let (names, options) = args.split_at(n_names);
    let studies = read_studies(&place.root.join("studies"))?;
    if let Some(unknown) = names
        .iter()
        .find(|name| studies.iter().all(|it| it.name != **name))
    {
        let known: Vec<&str> = studies.iter().map(|it| it.name.as_str()).collect();
        bail!(
            "there is no study `{unknown}`; there are {}",
            known.join(", ")
        );
    }
    let is_wanted = |it: &GalleryStudy| names.is_empty() || names.contains(&it.name);
    let wanted: Vec<GalleryStudy> = studies.into_iter().filter(is_wanted).collect();

    let program = dist::build_program_with_pages(place)?;
    let data = place.target.join("gallery/data");
    let mut made = Vec::new();
    let mut missing = Vec::new();
    for study in &wanted {
        match collection_parent(place, study) {
            Some(parent) => {
                println!("gallery: {}", study.name);
                make_study(place, &program, study, &parent, &data)?;
                made.push(study);
            }
            None => missing.push(study),
        }
    }
    if !made.is_empty() {
        let out = place.target.join("gallery/site");
        let mut site = Command::new(&program);
        site.arg("--data")
            .arg(&data)
            .args(["site", "build", "--out"]);
        site.arg(&out).args(options);
        for study in &made {
            let option = match study.matter.without_texts {
                true => "--without-texts",
                false => "--study",
            };
            site.args([option, &study.name]);
        }
        process::run(&mut site)?;
    }
    for study in missing {
        let with_files = match &study.matter.files[..] {
            [] => String::new(),
            files => format!(" with {}", files.join(", ")),
        };
        println!(
            "\nnot made: {}, for which there is no folder `{}`{with_files}",
            study.name, study.collection
        );
        println!(
            "{}",
            study.section("How to get the data").unwrap_or_default()
        );
    }
    Ok(())
}

/// Returns the folder in which the folder with the data of a study is: `AXIOSCOPE_DATA`, the public
/// collections beside the checkout, or the checkout itself.
fn collection_parent(place: &ProjectPaths, study: &GalleryStudy) -> Option<PathBuf> {
    let set = std::env::var_os("AXIOSCOPE_DATA").filter(|it| !it.is_empty());
    let folders = [
        set.map(PathBuf::from),
        Some(place.root.join("../shared/data")),
        Some(place.root.clone()),
    ];
    let mut folders = folders.into_iter().flatten();
    folders.find(|it| has_data(&it.join(&study.collection), &study.matter.files))
}

/// Returns whether a folder is there and has some files, packed or not.
fn has_data(folder: &Path, files: &[String]) -> bool {
    let is_there = |file: &String| {
        let mut forms = ["", ".gz", ".zst"].into_iter();
        forms.any(|packed| folder.join(format!("{file}{packed}")).is_file())
    };
    folder.is_dir() && files.iter().all(is_there)
}

/// Makes a study, unless it is there with the same definition, and publishes it.
fn make_study(
    place: &ProjectPaths,
    program: &Path,
    study: &GalleryStudy,
    parent: &Path,
    data: &Path,
) -> Result<()> {
    let axioscope = |arguments: &[&str]| {
        let mut command = Command::new(program);
        // Collections are named by their folder, as seen from here.
        command.current_dir(parent);
        command.arg("--data").arg(data).args(arguments);
        command
    };
    let mut run = axioscope(&["study", "run", "--replace"]);
    run.arg(&study.file);
    for model in &study.matter.models {
        run.arg("--model")
            .arg(place.root.join("models").join(model));
    }
    process::run(&mut run)?;
    process::run(&mut axioscope(&["study", "publish", &study.name]))
}

fn read_studies(folder: &Path) -> Result<Vec<GalleryStudy>> {
    let mut studies = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let file = entry?.path();
        if file.extension().is_some_and(|it| it == "toml") {
            studies.push(read_study(&file).with_context(|| file.display().to_string())?);
        }
    }
    studies.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(studies)
}

fn read_study(file: &Path) -> Result<GalleryStudy> {
    let name = file.file_stem().context("it has a name")?.to_string_lossy();
    let definition: StudyFile = toml::from_str(&fs::read_to_string(file)?)?;
    let page = file.with_extension("md");
    let page = fs::read_to_string(&page).with_context(|| page.display().to_string())?;
    let parts = page
        .strip_prefix("+++\n")
        .and_then(|it| it.split_once("+++\n"));
    let (matter, page) = parts.context("its page has no front matter between two lines `+++`")?;
    let study = GalleryStudy {
        name: name.into_owned(),
        file: file.to_owned(),
        collection: definition.collection,
        matter: toml::from_str(matter)?,
        page: page.to_owned(),
    };
    for section in SECTIONS {
        let is_there = study.section(section).is_some_and(|it| !it.is_empty());
        anyhow::ensure!(is_there, "its page has no section `{section}`");
    }
    Ok(study)
}

impl GalleryStudy {
    /// Returns the text of a section of the page.
    fn section(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.page.split_once(&format!("\n## {name}\n"))?;
        Some(rest.split("\n## ").next().unwrap_or_default().trim())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_of_the_gallery_has_its_page() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let studies = read_studies(&root.join("studies")).unwrap();
        assert!(studies.len() >= 5, "{}", studies.len());
        for study in studies {
            for model in &study.matter.models {
                assert!(root.join("models").join(model).is_dir(), "{model}");
            }
        }
    }

    #[test]
    fn a_page_without_a_section_is_refused() {
        let folder = std::env::temp_dir().join(format!("gallery-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.toml"), "collection = \"a\"").unwrap();
        fs::write(
            folder.join("a.md"),
            "+++\n+++\n\n# A\n\n## What it shows\n\nX\n",
        )
        .unwrap();
        let error = read_studies(&folder).map(|_| ()).unwrap_err();
        fs::remove_dir_all(&folder).unwrap();
        assert!(
            format!("{error:#}").contains("What to look at first"),
            "{error:#}"
        );
    }
}
