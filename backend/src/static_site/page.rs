//! The page of the app, filled for each path of a static site.

use shared::first_paint::FIRST_PAINT_ID;
use shared::report::markup::escape_markup;
use shared::site::{BASE_PATH_ATTRIBUTE, STATIC_HOST_ATTRIBUTE};

use super::{BasePath, DESCRIPTION, picture};
use crate::error::Error;
use crate::first_paint::{PageTexts, add_texts};
use crate::front_end_files::content_security_policy;
use crate::http::PublicUrl;

/// What is special about one page.
pub(super) struct SitePage {
    /// The title; empty for that of the site.
    pub(super) title: String,
    /// A description in about two sentences.
    pub(super) description: String,
    /// The path of a picture for link previews.
    pub(super) picture: Option<String>,
    /// What the picture shows.
    pub(super) picture_text: String,
    /// The texts that are shown until the program shows the page.
    pub(super) texts: Option<PageTexts>,
    /// What a reader without JavaScript sees, as HTML.
    pub(super) readable: String,
    /// Whether the page links to the feed of studies.
    pub(super) has_feed: bool,
}

impl SitePage {
    /// Returns a page that has only a title.
    pub(super) fn with_title(title: &str) -> SitePage {
        SitePage {
            title: title.to_owned(),
            description: DESCRIPTION.to_owned(),
            picture: None,
            picture_text: String::new(),
            texts: None,
            readable: "<p>This page needs JavaScript.</p>\n".to_owned(),
            has_feed: false,
        }
    }
}

/// The page of the app, with addresses below the base path.
pub(super) struct PageTemplate {
    index: String,
    base_path: String,
    origin: Option<String>,
}

impl PageTemplate {
    /// Prepares the page that the front end was built with.
    pub(super) fn new(
        index: &str,
        base_path: &BasePath,
        public_url: Option<&PublicUrl>,
    ) -> Result<PageTemplate, Error> {
        let base = base_path.as_str();
        let root =
            format!("<html lang=\"en\" {BASE_PATH_ATTRIBUTE}=\"{base}\" {STATIC_HOST_ATTRIBUTE}>");
        let index = replace_once(index, "<html lang=\"en\">", &root)?;
        // The addresses of files, in attributes and in the script that loads the program.
        let index = index
            .replace("href=\"/", &format!("href=\"{base}/"))
            .replace("'/", &format!("'{base}/"));
        let policy = escape_markup(&content_security_policy(&index));
        // A browser ignores the policy for scripts before it.
        let charset = "<meta charset=\"utf-8\">";
        let with_policy = format!(
            "{charset}\n    <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">"
        );
        Ok(PageTemplate {
            index: replace_once(&index, charset, &with_policy)?,
            base_path: base.to_owned(),
            origin: public_url.map(PublicUrl::origin),
        })
    }

    /// Returns the address of a path of the site.
    pub(super) fn address(&self, path: &str) -> String {
        format!("{}{path}", self.base_path)
    }

    /// Returns the page at a path.
    pub(super) fn fill(&self, path: &str, page: &SitePage) -> Result<String, Error> {
        let noscript = element(&self.index, "<noscript>", "</noscript>")?;
        let description = element(&self.index, "<meta name=\"description\"", ">")?;
        let title = match page.title.as_str() {
            "" => "Axioscope".to_owned(),
            title => escape_markup(&format!("{title} · Axioscope")),
        };
        let readable = format!(
            "<noscript><style>#{FIRST_PAINT_ID} {{ display: none }}</style>\n\
             <header class=\"site\"><a class=\"brand\" href=\"{}\">Axioscope</a></header>\n\
             <main class=\"readable\">\n{}</main></noscript>",
            self.address("/"),
            page.readable
        );
        let index = replace_once(&self.index, noscript, &readable)?;
        let index = match &page.texts {
            Some(texts) => add_texts(&index, texts).unwrap_or(index),
            None => index,
        };
        let about = self.description_of(path, page, &title);
        let index = replace_once(&index, description, &about)?;
        replace_once(
            &index,
            "<title>Axioscope</title>",
            &format!("<title>{title}</title>"),
        )
    }

    /// Returns the elements of the head that describe a page to search engines and link previews.
    fn description_of(&self, path: &str, page: &SitePage, title: &str) -> String {
        let description = escape_markup(&page.description);
        let mut out = vec![format!(
            "<meta name=\"description\" content=\"{description}\">"
        )];
        let mut add = |property: &str, content: &str| {
            out.push(format!(
                "<meta property=\"og:{property}\" content=\"{content}\">"
            ));
        };
        add("title", title);
        add("description", &description);
        add("type", "website");
        add("site_name", "Axioscope");
        // These have to be absolute.
        if let Some(origin) = &self.origin {
            let url = |path: &str| escape_markup(&format!("{origin}{}", self.address(path)));
            add("url", &url(path));
            if let Some(picture) = &page.picture {
                add("image", &url(picture));
                add("image:width", &picture::SIZE[0].to_string());
                add("image:height", &picture::SIZE[1].to_string());
                add("image:alt", &escape_markup(&page.picture_text));
                out.push("<meta name=\"twitter:card\" content=\"summary_large_image\">".to_owned());
            }
            out.push(format!("<link rel=\"canonical\" href=\"{}\">", url(path)));
            if page.has_feed {
                out.push(format!(
                    "<link rel=\"alternate\" type=\"application/atom+xml\" title=\"Studies\" \
                     href=\"{}\">",
                    url("/feed.xml")
                ));
            }
        }
        out.join("\n    ")
    }
}

/// Returns the part of a page from the beginning of an element to its end.
fn element<'a>(page: &'a str, first: &str, last: &str) -> Result<&'a str, Error> {
    let found = page.find(first).and_then(|start| {
        let end = page[start..].find(last)?;
        Some(&page[start..start + end + last.len()])
    });
    found.ok_or_else(|| unexpected_page(first))
}

/// Replaces a part of a page that it has exactly once.
fn replace_once(page: &str, part: &str, by: &str) -> Result<String, Error> {
    match page.matches(part).count() {
        1 => Ok(page.replacen(part, by, 1)),
        _ => Err(unexpected_page(part)),
    }
}

fn unexpected_page(part: &str) -> Error {
    shared::error::Error::unreadable_file(
        "index.html",
        format!(
            "it has no `{part}`, or several; build the pages of this version with `cargo xtask \
             dist`"
        ),
    )
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
        <meta name=\"description\" content=\"Why?\">\n<title>Axioscope</title>\n\
        <link rel=\"icon\" href=\"/icon.svg\"/>\n<script type=\"module\">\n\
        const annotates = /^\\/join$/;\nawait import('/frontend.js');\n</script>\n</head>\n<body>\n\
        <noscript>No scripts</noscript>\n</body>\n</html>\n";

    fn template(base: &str, url: Option<&str>) -> PageTemplate {
        let url = url.map(|it| it.parse().unwrap());
        PageTemplate::new(INDEX, &base.parse().unwrap(), url.as_ref()).unwrap()
    }

    #[test]
    fn addresses_of_files_are_below_the_base_path() {
        let page = template("/some/path/", None)
            .fill("/", &SitePage::with_title(""))
            .unwrap();
        assert!(page.contains("<html lang=\"en\" data-base-path=\"/some/path\" data-static-host>"));
        assert!(page.contains("href=\"/some/path/icon.svg\""));
        assert!(page.contains("import('/some/path/frontend.js')"));
        assert!(page.contains("/^\\/join$/"), "{page}");
        let root = template("/", None)
            .fill("/", &SitePage::with_title(""))
            .unwrap();
        assert!(root.contains("<html lang=\"en\" data-base-path=\"\" data-static-host>"));
        assert!(root.contains("import('/frontend.js')"));
        // Without a host there is nothing that has to be absolute.
        assert!(!root.contains("og:url") && !root.contains("canonical"));
    }

    #[test]
    fn texts_of_a_study_are_no_markup() {
        let page = SitePage {
            title: "<b>\"T\"".to_owned(),
            description: "a\"><script>".to_owned(),
            picture: Some("/studies/x/preview.png".to_owned()),
            picture_text: "'".to_owned(),
            ..SitePage::with_title("")
        };
        let template = template("/p/", Some("https://axioscope.example"));
        let page = template.fill("/studies/x/", &page).unwrap();
        assert!(page.contains("<title>&lt;b&gt;&quot;T&quot; · Axioscope</title>"));
        assert!(page.contains("content=\"a&quot;&gt;&lt;script&gt;\""));
        let url = "https://axioscope.example/p/studies/x/";
        assert!(page.contains(&format!("<meta property=\"og:url\" content=\"{url}\">")));
        assert!(page.contains(&format!("content=\"{url}preview.png\"")));
        assert_eq!(page.matches("<script").count(), 1);
    }

    #[test]
    fn the_policy_allows_the_script_as_it_was_written() {
        let page = template("/some/path/", None)
            .fill("/", &SitePage::with_title(""))
            .unwrap();
        let script = element(&page, "<script type=\"module\">", "</script>").unwrap();
        let script = script.trim_start_matches("<script type=\"module\">");
        let script = script.trim_end_matches("</script>");
        let expected = content_security_policy(&format!("<script>{script}</script>"));
        assert!(page.contains(&escape_markup(&expected)));
        assert!(!page.contains("frame-ancestors"));
    }

    #[test]
    fn a_page_of_another_version_is_refused() {
        let base = "/".parse().unwrap();
        let error = PageTemplate::new("<html>", &base, None)
            .map(|_| ())
            .unwrap_err();
        assert!(error.to_string().contains("cargo xtask dist"), "{error}");
    }
}
