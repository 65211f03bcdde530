//! External dependencies of tests: installed, missing, or required by this run.

use crate::paths::ProjectPaths;
use crate::setup;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;

/// Variable with the names of required dependencies, separated by commas. The tests read it too.
const REQUIRED: &str = "AXIOSCOPE_REQUIRE";

/// A dependency without which some tests are skipped, unless it is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequiredDependency {
    /// Chromium with its driver, and the accessibility checker.
    Browser,
    /// WebKit with its driver and a display.
    WebKit,
    /// The programs of PostgreSQL.
    Postgres,
    /// nginx, as a proxy in front of a server.
    Proxy,
    /// The default neural model.
    Model,
    /// The public collections for which figures are published.
    Collections,
    /// A server that responds as S3 does.
    S3,
}

impl RequiredDependency {
    const ALL: [RequiredDependency; 7] = [
        RequiredDependency::Browser,
        RequiredDependency::WebKit,
        RequiredDependency::Postgres,
        RequiredDependency::Proxy,
        RequiredDependency::Model,
        RequiredDependency::Collections,
        RequiredDependency::S3,
    ];

    /// Returns the name of the dependency in the environment variable [`REQUIRED`].
    pub(super) fn name(self) -> &'static str {
        match self {
            RequiredDependency::Browser => "browser",
            RequiredDependency::WebKit => "webkit",
            RequiredDependency::Postgres => "postgres",
            RequiredDependency::Proxy => "proxy",
            RequiredDependency::Model => "model",
            RequiredDependency::Collections => "data",
            RequiredDependency::S3 => "s3",
        }
    }

    /// Returns the variables by which tests find the dependency. For PostgreSQL there is none here,
    /// since a server is started for each run.
    pub(super) fn variables(self) -> &'static [&'static str] {
        match self {
            RequiredDependency::Browser => &["CHROMIUM", "CHROMEDRIVER", "AXIOSCOPE_AXE"],
            RequiredDependency::WebKit => &["WEBKITDRIVER", "WEBKIT", "XVFB"],
            RequiredDependency::Postgres => &[],
            RequiredDependency::Proxy => &["NGINX"],
            RequiredDependency::Model => &["AXIOSCOPE_MODEL"],
            RequiredDependency::Collections => &["AXIOSCOPE_DATA"],
            RequiredDependency::S3 => &["AXIOSCOPE_MOTO"],
        }
    }

    /// Finds or installs the dependency and returns the values of its variables.
    pub(super) fn find(self, place: &ProjectPaths) -> Result<Vec<PathBuf>> {
        Ok(match self {
            RequiredDependency::Browser => {
                let found = setup::browser::find_or_install(place)?;
                vec![found.chromium, found.chromedriver, found.axe]
            }
            RequiredDependency::WebKit => {
                let found = setup::webkit::find_or_install()?;
                vec![found.driver, found.browser, found.display]
            }
            RequiredDependency::Postgres => {
                setup::postgres::get()?;
                Vec::new()
            }
            RequiredDependency::Proxy => vec![setup::nginx::get()?],
            RequiredDependency::Model => vec![setup::model::get(place)?],
            RequiredDependency::Collections => vec![data(place)?],
            RequiredDependency::S3 => vec![setup::moto::get(place)?],
        })
    }
}

/// Returns the dependencies that this run requires.
pub(super) fn required() -> Result<Vec<RequiredDependency>> {
    parse(&std::env::var(REQUIRED).unwrap_or_default())
}

fn parse(names: &str) -> Result<Vec<RequiredDependency>> {
    let names = names.split(',').map(str::trim).filter(|it| !it.is_empty());
    names
        .map(|name| {
            let known = RequiredDependency::ALL
                .into_iter()
                .find(|it| it.name() == name);
            known.with_context(|| {
                let all = RequiredDependency::ALL
                    .map(RequiredDependency::name)
                    .join(", ");
                format!("{REQUIRED} names `{name}`, which is none of {all}")
            })
        })
        .collect()
}

/// Finds all required dependencies, so that a run fails at its start and not after minutes.
pub(super) fn find_required(place: &ProjectPaths) -> Result<()> {
    for dependency in required()? {
        let found = dependency.find(place);
        found.with_context(|| format!("{REQUIRED} names `{}`", dependency.name()))?;
    }
    Ok(())
}

/// Returns the folder of the public collections: `AXIOSCOPE_DATA`, or else `../shared/data` next to
/// the checkout.
fn data(place: &ProjectPaths) -> Result<PathBuf> {
    let set = std::env::var_os("AXIOSCOPE_DATA")
        .filter(|it| !it.is_empty())
        .map(PathBuf::from);
    let beside = || place.root.parent().map(|it| it.join("shared/data"));
    match set.or_else(beside).filter(|it| it.is_dir()) {
        Some(folder) => Ok(folder),
        None => bail!(
            "the public collections are missing: set AXIOSCOPE_DATA to the folder that holds them"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn required_dependencies_are_named_with_commas() {
        assert_eq!(parse("").unwrap(), []);
        assert_eq!(
            parse("browser, data,").unwrap(),
            [RequiredDependency::Browser, RequiredDependency::Collections]
        );
        let error = parse("postgres,modell").unwrap_err().to_string();
        assert!(error.contains("`modell`"), "{error}");
    }
}
