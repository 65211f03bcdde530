//! A static site: pages, programs and studies as one folder for any host of files, below any path.

mod base_path;
mod feed;
mod page;
mod picture;
mod study_files;
mod study_page;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use axum::body::Bytes;
use shared::api::worker::LOCAL_STUDY;
use shared::report::markup::escape_markup;
use shared::site::{page_paths, study_page_paths};
use shared::study::Study;
use shared::study::overview::StudySummary;

use crate::documentation::{DocumentationHost, documentation_files};
use crate::error::Error;
use crate::first_paint::PageTexts;
use crate::front_end_files::front_end_files;
use crate::http::PublicUrl;
use crate::remedy;
use crate::store::DataFolder;
use page::{PageTemplate, SitePage};

pub(crate) use base_path::BasePath;
pub(crate) use study_files::{ExportLayout, StudyExportOptions, export_study};

/// The file by which the folder of an earlier build is recognized.
const MARKER: &str = "axioscope-site.json";

/// The description of the pages that have none of their own.
const DESCRIPTION: &str = "Why does a ranker rank the way it does? Retrieval axioms, thousands of \
    document pairs, and how often each ranker agrees.";

/// What a static site consists of, and where it will be.
pub(crate) struct StaticSiteOptions<'a> {
    /// The studies, with how each is exported.
    pub studies: Vec<(String, StudyExportOptions)>,
    /// The path of the site on its host.
    pub base_path: BasePath,
    /// The command line, which the documentation describes.
    pub command: &'a clap::Command,
    /// The host, which a sitemap, a feed and link previews have to name.
    pub public_url: Option<PublicUrl>,
}

/// The size of a site.
pub(crate) struct BuiltSite {
    /// The number of files.
    pub n_files: u64,
    /// The size of all files together.
    pub n_bytes: u64,
}

/// Writes a site into a folder, which must be empty, not exist, or have an earlier build.
pub(crate) fn build_static_site(
    data: &DataFolder,
    options: &StaticSiteOptions<'_>,
    out: &Path,
) -> Result<BuiltSite, Error> {
    check_replaceable(out)?;
    let parent = match out.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let failed = || Error::io_error_converter(out, remedy::ANOTHER_FOLDER);
    std::fs::create_dir_all(parent).map_err(failed())?;
    let scratch = tempfile::tempdir_in(parent).map_err(failed())?;
    // The inner folder has the usual permissions; a temporary folder is readable by its owner only.
    let mut front_end = front_end_files();
    let site = SiteFolder {
        path: scratch.path().join("site"),
        template: PageTemplate::new(
            &take_text(&mut front_end, "index.html")?,
            &options.base_path,
            options.public_url.as_ref(),
        )?,
    };
    site.write_front_end(&front_end)?;
    site.write_documentation(options.command)?;
    site.write_studies(data, options)?;
    site.write_text(MARKER, "{}\n")?;
    let size = site.count_files()?;
    // The earlier build is there until the new one takes its place.
    let earlier = scratch.path().join("earlier");
    if out.exists() {
        std::fs::rename(out, &earlier).map_err(failed())?;
    }
    std::fs::rename(scratch.path().join("site"), out).map_err(failed())?;
    Ok(size)
}

/// Makes sure that nothing but an earlier build is replaced.
fn check_replaceable(out: &Path) -> Result<(), Error> {
    let mut entries = match std::fs::read_dir(out) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(Error::io_error_converter(out, "choose another folder"))?,
    };
    if entries.next().is_none() || out.join(MARKER).exists() {
        return Ok(());
    }
    Err(shared::error::Error::unreadable_file(
        &out.display().to_string(),
        "the folder has other files than those of a site; choose an empty folder or a new one",
    )
    .into())
}

/// Removes a text from the files of the front end and returns it.
fn take_text(front_end: &mut BTreeMap<String, Bytes>, path: &str) -> Result<String, Error> {
    front_end
        .remove(path)
        .and_then(|it| String::from_utf8(it.into()).ok())
        .ok_or_else(|| {
            shared::error::Error::unreadable_file(
                path,
                "this program was built without its pages; `cargo xtask dist` makes one that has \
                 them",
            )
            .into()
        })
}

/// The folder of a site that is being built.
struct SiteFolder {
    path: PathBuf,
    template: PageTemplate,
}

impl SiteFolder {
    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), Error> {
        let file = self.path.join(path);
        let written = || {
            std::fs::create_dir_all(file.parent().unwrap_or(&self.path))?;
            std::fs::write(&file, bytes)
        };
        written().map_err(Error::io_error_converter(&file, remedy::ANOTHER_FOLDER))
    }

    fn write_text(&self, path: &str, text: &str) -> Result<(), Error> {
        self.write(path, text.as_bytes())
    }

    /// Writes a page, which is the file `index.html` of its path.
    fn write_page(&self, path: &str, page: &SitePage) -> Result<(), Error> {
        let file = format!("{}index.html", path.trim_start_matches('/'));
        self.write_text(&file, &self.template.fill(path, page)?)
    }

    fn write_documentation(&self, command: &clap::Command) -> Result<(), Error> {
        let base = &self.template.address("");
        for file in documentation_files(base, DocumentationHost::StaticHost, command) {
            self.write_text(&file.path, &file.contents)?;
        }
        Ok(())
    }

    /// Writes the programs and styles of the pages.
    fn write_front_end(&self, files: &BTreeMap<String, Bytes>) -> Result<(), Error> {
        let is_page = |path: &str| path.starts_with("index.html");
        let mut files = files.iter().filter(|it| !is_page(it.0));
        files.try_for_each(|(path, body)| self.write(path, body))
    }

    fn write_studies(
        &self,
        data: &DataFolder,
        options: &StaticSiteOptions<'_>,
    ) -> Result<(), Error> {
        let folder = self.path.join("studies");
        for (name, options) in &options.studies {
            let study = export_study(data, name, &folder, *options)?;
            self.write_study_pages(&study)?;
        }
        let mut summaries = study_files::read_index(&folder.join(study_files::STUDY_LIST))?;
        for path in study_page_paths(LOCAL_STUDY) {
            self.write_page(&path, &SitePage::with_title("Your study"))?;
        }
        summaries.sort_by(|a, b| (&b.created, &a.name).cmp(&(&a.created, &b.name)));
        self.write_other_pages(&summaries)?;
        if let Some(url) = &options.public_url {
            let address = |path: &str| format!("{}{}", url.origin(), self.template.address(path));
            self.write_text("sitemap.xml", &feed::sitemap(&summaries, &address))?;
            self.write_text("feed.xml", &feed::feed(&summaries, &address))?;
        }
        Ok(())
    }

    fn write_study_pages(&self, study: &Study) -> Result<(), Error> {
        let name = &study.definition.name;
        let overview = study.overview(&Default::default())?;
        let summary = study.summary(true)?;
        self.write(
            &format!("studies/{name}/{}", picture::FILE),
            &picture::heatmap_png(&summary),
        )?;
        for (file, svg) in study_page::heatmap_files(&overview) {
            self.write_text(&format!("studies/{name}/{file}"), &svg)?;
        }
        let address = |path: &str| self.template.address(path);
        let readable = study_page::readable_study(&overview, &address);
        for (n, path) in study_page_paths(name).enumerate() {
            let page = SitePage {
                title: study.definition.title.clone(),
                description: study.definition.description.clone(),
                picture: Some(format!("/studies/{name}/{}", picture::FILE)),
                picture_text: study_page::picture_text(&summary),
                texts: Some(PageTexts::of_study(study)),
                readable: match n {
                    0 => readable.clone(),
                    _ => study_page::link_to_study(&summary, &address),
                },
                has_feed: false,
            };
            self.write_page(&path, &page)?;
        }
        Ok(())
    }

    fn write_other_pages(&self, summaries: &[StudySummary]) -> Result<(), Error> {
        let home = escape_markup(&self.template.address("/"));
        let to_studies = format!("<p><a href=\"{home}\">See all studies</a></p>\n");
        for path in page_paths() {
            let is_home = ["/", "/studies/"].contains(&path.as_str());
            let page = SitePage {
                texts: PageTexts::of_path(&path).map(PageTexts::without_documents),
                readable: match is_home {
                    true => study_page::readable_list(summaries, &|it| self.template.address(it)),
                    false => to_studies.clone(),
                },
                has_feed: is_home,
                ..SitePage::with_title("")
            };
            self.write_page(&path, &page)?;
        }
        let not_found = SitePage {
            readable: format!("<h1>Page not found</h1>\n{to_studies}"),
            ..SitePage::with_title("")
        };
        self.write_text("404.html", &self.template.fill("/404.html", &not_found)?)
    }

    fn count_files(&self) -> Result<BuiltSite, Error> {
        let mut size = BuiltSite {
            n_files: 0,
            n_bytes: 0,
        };
        for entry in walkdir::WalkDir::new(&self.path) {
            let entry = entry.map_err(std::io::Error::from);
            let metadata = entry.and_then(|it| it.metadata().map_err(std::io::Error::from));
            let metadata = metadata.map_err(Error::io_error_converter(
                &self.path,
                remedy::ANOTHER_FOLDER,
            ))?;
            if metadata.is_file() {
                size.n_files += 1;
                size.n_bytes += metadata.len();
            }
        }
        Ok(size)
    }
}
