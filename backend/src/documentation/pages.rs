//! The table of the pages, in the order in which they are listed and read.

/// A page of the documentation.
pub(super) struct DocumentationPage {
    /// The page is at `/docs/NAME/`.
    pub name: &'static str,
    /// The title, which is also the first heading of the text.
    pub title: &'static str,
    /// One sentence for the overview and for search engines.
    pub description: &'static str,
    /// The part of the documentation that the page belongs to.
    pub part: DocumentationPart,
    /// The path of the text in the repository, which relative links start from.
    pub file: &'static str,
    /// Where the text comes from.
    pub source: DocumentationPageSource,
}

/// Where the text of a page comes from.
pub(super) enum DocumentationPageSource {
    /// A file in Markdown.
    Markdown(&'static str),
    /// The options of the program.
    CommandLine,
}

/// What a page is for: the four kinds of documentation of Procida (diataxis.fr).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentationPart {
    /// A lesson to follow.
    Tutorial,
    /// Steps to a goal.
    HowTo,
    /// Facts to look up.
    Reference,
    /// Definitions and reasons.
    Explanation,
}

impl DocumentationPart {
    /// Every part, in the order in which they are listed.
    pub(super) const ALL: [DocumentationPart; 4] = [
        DocumentationPart::Tutorial,
        DocumentationPart::HowTo,
        DocumentationPart::Reference,
        DocumentationPart::Explanation,
    ];

    /// Returns the heading above the pages of the part.
    pub(super) fn heading(self) -> &'static str {
        match self {
            DocumentationPart::Tutorial => "Tutorial",
            DocumentationPart::HowTo => "How-to guides",
            DocumentationPart::Reference => "Reference",
            DocumentationPart::Explanation => "Explanation",
        }
    }

    /// Returns the pages of the part.
    pub(super) fn pages(self) -> impl Iterator<Item = &'static DocumentationPage> {
        PAGES.iter().filter(move |it| it.part == self)
    }
}

/// A page whose text is a file of the repository.
macro_rules! markdown_page {
    ($name:literal, $title:literal, $part:ident, $file:literal, $description:literal) => {
        DocumentationPage {
            name: $name,
            title: $title,
            description: $description,
            part: DocumentationPart::$part,
            file: $file,
            source: DocumentationPageSource::Markdown(include_str!(concat!("../../../", $file))),
        }
    };
}

/// Every page. Pages of one part follow each other.
pub(super) const PAGES: &[DocumentationPage] = &[
    markdown_page!(
        "tutorial",
        "Tutorial",
        Tutorial,
        "docs/guide/tutorial.md",
        "From the demo study to a study of your own collection, in ten minutes."
    ),
    markdown_page!(
        "rankers",
        "Rankers",
        HowTo,
        "docs/guide/rankers.md",
        "How to score with lexical, neural and remote rankers, and with score files."
    ),
    markdown_page!(
        "training",
        "Training rankers",
        HowTo,
        "docs/guide/training.md",
        "How to train a ranker on your relevance judgments and follow when it learns each axiom."
    ),
    markdown_page!(
        "annotation",
        "Annotation",
        HowTo,
        "docs/guide/annotation.md",
        "How to have people decide which document of an instance answers the query better."
    ),
    markdown_page!(
        "deployment",
        "Deployment",
        HowTo,
        "docs/guide/deployment.md",
        "How to run a public server: systemd, nginx, Caddy, PostgreSQL and backups."
    ),
    markdown_page!(
        "cluster",
        "Studies on several machines",
        HowTo,
        "docs/guide/cluster.md",
        "How to create a large study with a scheduler and executors, also under Kubernetes."
    ),
    DocumentationPage {
        name: "command-line",
        title: "Command line",
        description: "Every subcommand of the program with its arguments and options.",
        part: DocumentationPart::Reference,
        file: "docs/guide/command-line.md",
        source: DocumentationPageSource::CommandLine,
    },
    markdown_page!(
        "http-api",
        "HTTP API",
        Reference,
        "docs/guide/http-api.md",
        "The requests that a server answers, and who may send them."
    ),
    markdown_page!(
        "study-file",
        "Study file",
        Reference,
        "docs/guide/study-file.md",
        "Every key of study.toml, with its range, its default and its errors."
    ),
    markdown_page!(
        "file-formats",
        "File formats",
        Reference,
        "docs/guide/file-formats.md",
        "Every file that Axioscope reads or writes: collections, runs, instances, scores, exports."
    ),
    markdown_page!(
        "small-models",
        "Small models",
        Reference,
        "models/README.md",
        "The six small models of the demo study: their training data, quality and license."
    ),
    markdown_page!(
        "glossary",
        "Glossary",
        Reference,
        "docs/glossary.md",
        "The concepts of Axioscope, in the words of information retrieval."
    ),
    markdown_page!(
        "axioms",
        "Axioms and behavioral tests",
        Explanation,
        "docs/guide/axioms.md",
        "What each axiom and each behavioral test demands of a ranker, with formula and source."
    ),
    markdown_page!(
        "statistics",
        "Statistics",
        Explanation,
        "docs/guide/statistics.md",
        "How every number is computed: verdicts, fractions, intervals, tests and agreement."
    ),
    markdown_page!(
        "privacy",
        "Privacy",
        Explanation,
        "docs/guide/privacy.md",
        "What a server and the browser store about visitors and annotators, and for how long."
    ),
];
