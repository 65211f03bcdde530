//! External dependencies of tests: finds or installs them.

use crate::paths::ProjectPaths;
use crate::setup;
use anyhow::{Context, Error, Result, bail};
use std::path::PathBuf;
use test_dependencies::{REQUIRED, TestDependency};

/// Returns the variables by which tests find a dependency. For PostgreSQL there is none here, since
/// a server is started for each run.
pub(super) fn variables(dependency: TestDependency) -> &'static [&'static str] {
    match dependency {
        TestDependency::Browser => &["CHROMIUM", "CHROMEDRIVER", "AXIOSCOPE_AXE"],
        TestDependency::WebKit => &["WEBKITDRIVER", "WEBKIT", "XVFB"],
        TestDependency::Postgres | TestDependency::SystemProgram => &[],
        TestDependency::Proxy => &["NGINX"],
        TestDependency::Model => &["AXIOSCOPE_MODEL"],
        TestDependency::Collections => &["AXIOSCOPE_DATA"],
        TestDependency::S3 => &["AXIOSCOPE_MOTO"],
    }
}

/// Finds or installs a dependency and returns the values of its variables. For
/// [`TestDependency::SystemProgram`] there are none, since tests look these programs up themselves.
pub(super) fn find(dependency: TestDependency, place: &ProjectPaths) -> Result<Vec<PathBuf>> {
    Ok(match dependency {
        TestDependency::Browser => {
            let found = setup::browser::find_or_install(place)?;
            vec![found.chromium, found.chromedriver, found.axe]
        }
        TestDependency::WebKit => {
            let found = setup::webkit::find_or_install()?;
            vec![found.driver, found.browser, found.display]
        }
        TestDependency::Postgres => {
            setup::postgres::get()?;
            Vec::new()
        }
        TestDependency::Proxy => vec![setup::nginx::get()?],
        TestDependency::Model => vec![setup::model::get(place)?],
        TestDependency::Collections => vec![data(place)?],
        TestDependency::S3 => vec![setup::moto::get(place)?],
        TestDependency::SystemProgram => Vec::new(),
    })
}

/// Returns the dependencies that this run requires.
pub(super) fn required() -> Result<Vec<TestDependency>> {
    test_dependencies::required().map_err(Error::msg)
}

/// Finds all required dependencies, so that a run fails at its start and not after minutes.
pub(super) fn find_required(place: &ProjectPaths) -> Result<()> {
    for dependency in required()? {
        let found = find(dependency, place);
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
