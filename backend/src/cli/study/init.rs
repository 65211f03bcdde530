//! The command `study init`: a complete, commented study file for a collection.

use std::io::Write;
use std::path::{Path, PathBuf};

use shared::error::{Error as InputError, ErrorFieldName};
use shared::score::slug::slugify;
use shared::study::StudyDefinition;

use super::super::{CommandOutcome, DEFAULT_DATA_FOLDER, called, load};
use crate::error::Error;
use crate::store::write_atomically;

/// The study file of a collection named `my-collection`. `docs/guide/study-file.md` shows it.
const TEMPLATE: &str = include_str!("template.toml");

/// Holds the command-line arguments of `axioscope study init`.
#[derive(clap::Args)]
pub(crate) struct StudyInitArgs {
    /// Folder or name of an imported collection
    #[arg(long, value_name = "DIR|NAME")]
    collection: String,
    /// Study file to write
    #[arg(long, value_name = "FILE", default_value = "study.toml")]
    out: PathBuf,
    /// Name of the study [default: that of the collection, in lowercase with hyphens]
    #[arg(long)]
    name: Option<String>,
    /// Replace an existing file
    #[arg(long)]
    replace: bool,
}

impl StudyInitArgs {
    pub(super) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        let out = self.out.display();
        if self.out.is_file() && !self.replace {
            let field = ErrorFieldName::with_display_name("out", &out);
            let reason = "exists; choose another file by --out, or replace it by --replace";
            return Err(InputError::conflicting_value(field, reason).into());
        }
        let title = called(&self.collection);
        let name = self.name.unwrap_or_else(|| slugify(&title));
        let text = study_file_text(&name, &title, &self.collection);
        let definition = StudyDefinition::from_toml(&out.to_string(), &text)?;
        let loaded = load(&self.collection, data, None)?;
        definition.validate_collection(&loaded.collection)?;
        write_atomically(&self.out, "choose another file by --out", |mut file| {
            file.write_all(text.as_bytes())
        })?;
        let data = match data == Path::new(DEFAULT_DATA_FOLDER) {
            true => String::new(),
            false => format!("--data {} ", data.display()),
        };
        println!(
            "{out} defines study `{name}`; edit it, then run: axioscope {data}study run {out}"
        );
        Ok(CommandOutcome::Done)
    }
}

/// Returns the text of a complete study file with the default of each setting.
fn study_file_text(name: &str, title: &str, collection: &str) -> String {
    let line = |key: &str, value: &str| format!("\n{key} = {}\n", toml::Value::from(value));
    let mut text = TEMPLATE.to_owned();
    for (key, example, value) in [
        ("name", "my-collection", name),
        ("title", "My collection", title),
        ("collection", "my-collection", collection),
    ] {
        text = text.replacen(&line(key, example), &line(key, value), 1);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the template with every setting turned on: without the # before it.
    fn with_all_settings() -> String {
        let lines = TEMPLATE.lines().map(|line| {
            let setting = line.trim_start().strip_prefix('#');
            let setting = setting.filter(|it| !it.is_empty() && !it.starts_with(' '));
            setting.unwrap_or(line).to_owned() + "\n"
        });
        lines.collect()
    }

    #[test]
    fn the_guide_shows_the_template() {
        let guide = include_str!("../../../../docs/guide/study-file.md");
        assert!(
            guide.contains(&format!("```toml\n{TEMPLATE}```")),
            "copy backend/src/cli/study/template.toml into docs/guide/study-file.md"
        );
    }

    #[test]
    fn the_template_shows_the_defaults() {
        let shortest = "name = \"small\"\ntitle = \"A\\\"B\"\ncollection = 'c:\\d'";
        let shortest = StudyDefinition::from_toml("short.toml", shortest).unwrap();
        let text = study_file_text("small", "A\"B", "c:\\d");
        let written = StudyDefinition::from_toml("study.toml", &text).unwrap();
        assert_eq!(written, shortest);
    }

    #[test]
    fn every_setting_of_the_template_is_valid_and_no_key_is_left_out() {
        let all = with_all_settings();
        let definition = StudyDefinition::from_toml("study.toml", &all).unwrap();
        assert!(definition.vectors.is_some() && definition.lookups.expansions.is_some());
        let former = ["modes", "queries", "symmetric"];
        for table in ["", "[analyzer]", "[limits]", "[lookups]", "[[transfers]]"] {
            let unknown = format!("{table}\nzzz = 1");
            let error = StudyDefinition::from_toml("study.toml", &unknown).unwrap_err();
            let error = error.to_string();
            let (_, keys) = error.split_once("expected one of ").expect(&error);
            for key in keys.split('`').skip(1).step_by(2) {
                let shown = [
                    format!("{key} = "),
                    format!("[{key}]"),
                    format!("[[{key}]]"),
                ];
                let is_shown = shown.iter().any(|it| all.contains(&format!("\n{it}")));
                assert!(is_shown || former.contains(&key), "{table} {key}");
            }
        }
    }
}
