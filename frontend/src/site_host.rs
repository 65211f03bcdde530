//! Where the pages are: at the root of a server, or below a path of a host of files, which
//! `axioscope site build` writes into the page.

#[cfg(target_arch = "wasm32")]
use shared::site::{BASE_PATH_ATTRIBUTE, STATIC_HOST_ATTRIBUTE};

/// The host of the pages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SiteHost {
    /// The path below which the pages are, without a slash at its end; empty at the root.
    pub(crate) base_path: String,
    /// Whether the host has only files, of which each page is one.
    pub(crate) has_only_files: bool,
}

impl SiteHost {
    /// Returns the host of this page.
    pub(crate) fn current() -> &'static SiteHost {
        static CURRENT: std::sync::OnceLock<SiteHost> = std::sync::OnceLock::new();
        CURRENT.get_or_init(SiteHost::read_from_page)
    }

    #[cfg(target_arch = "wasm32")]
    fn read_from_page() -> SiteHost {
        let root = leptos::prelude::document().document_element();
        root.map_or_else(SiteHost::default, |root| SiteHost {
            base_path: root.get_attribute(BASE_PATH_ATTRIBUTE).unwrap_or_default(),
            has_only_files: root.has_attribute(STATIC_HOST_ATTRIBUTE),
        })
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn read_from_page() -> SiteHost {
        SiteHost::default()
    }

    /// Returns the address of a path of the site.
    pub(crate) fn address(&self, path: &str) -> String {
        format!("{}{path}", self.base_path)
    }

    /// Returns the part of a path that is below the base path; none if it is elsewhere.
    pub(crate) fn path_below_base<'a>(&self, path: &'a str) -> Option<&'a str> {
        let below = path.strip_prefix(&self.base_path)?;
        match below {
            "" if !self.base_path.is_empty() => Some("/"),
            _ => below.starts_with('/').then_some(below),
        }
    }
}

/// Returns the address of a path of this site.
pub(crate) fn site_address(path: &str) -> String {
    SiteHost::current().address(path)
}
