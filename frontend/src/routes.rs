//! The route table: the address of every page. Addresses are parsed and written only here.

use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use shared::api::annotation::TaskId;
use shared::probe::Probe;
use shared::reproduce::{PaperTable, ReproduciblePaper};

use crate::site_host::SiteHost;

/// A page with the values in its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PageRoute {
    /// The list of studies.
    Studies,
    /// The axioms of one study, the first tab of its page.
    Study {
        /// Name of the study.
        study: String,
    },
    /// The figures of a study, as in the papers, a tab of the Study page.
    Figures {
        /// Name of the study.
        study: String,
    },
    /// The late-interaction analysis of a study's rankers.
    LateInteraction {
        /// Name of the study.
        study: String,
        /// The slug of the ranker; none takes the first.
        ranker: Option<String>,
    },
    /// The comparison of two rankers of a study.
    CompareRankers {
        /// Name of the study.
        study: String,
    },
    /// The behavioral tests of a study, a tab of the Study page.
    BehavioralTests {
        /// Name of the study.
        study: String,
    },
    /// The human judgments of a study, a tab of the Study page.
    HumanJudgments {
        /// Name of the study.
        study: String,
    },
    /// How a study was made and how stable its scores are, a tab of the Study page.
    Reproducibility {
        /// Name of the study.
        study: String,
    },
    /// The instances of a probe for one ranker.
    Instances {
        /// Name of the study.
        study: String,
        /// The column of the heat map.
        probe: Probe,
        /// The slug of the ranker, or its row counted from 0.
        ranker: String,
    },
    /// The page of one instance; its variant is a parameter.
    Instance {
        /// Name of the study.
        study: String,
        /// The column of the heat map.
        probe: Probe,
        /// The number of the instance within its probe and variant.
        number: u64,
    },
    /// The comparison of published tables with ours.
    Reproductions {
        /// The table; none takes the default.
        table: Option<PaperTable>,
    },
    /// The comparison of two studies; which ones is in the query string.
    CompareStudies,
    /// The page that tests axioms on texts typed by the user.
    Playground,
    /// The page that makes a study from the user's files.
    Workbench,
    /// The trainings of the server, and the form for a new one.
    Trainings,
    /// The learning curves and the result of a training.
    Training {
        /// The name of the trained ranker.
        training: String,
    },
    /// The annotation tasks of the user.
    ReviewTasks,
    /// The page on which a task is annotated.
    AnnotateTask {
        /// The id of the task.
        task: TaskId,
    },
    /// The progress and results of a task, for curators.
    CurateTask {
        /// The id of the task.
        task: TaskId,
    },
    /// The form for a new task.
    NewTask,
    /// A few instances of a study, to try annotating.
    Trial {
        /// Name of the study.
        study: String,
    },
    /// The page that invitation links lead to, and on which people sign in.
    Join,
    /// The list of people and invitations.
    People,
    /// The models and jobs of the server.
    Operator,
    /// The documentation of axioms, statistics, API and citation.
    About,
    /// What an axiom or another probe states, with its worked example: a part of other pages and
    /// not a page by itself.
    AxiomExample {
        /// The axiom or other probe.
        axiom: Probe,
    },
}

/// The pattern of an address, and the page that its values stand for.
type Route = (&'static str, fn(&PathValues) -> Option<PageRoute>);

/// The route of every page. The first route of a page is the one that links lead to.
const ROUTES: &[Route] = &[
    ("/", |_| Some(PageRoute::Studies)),
    ("/studies", |_| Some(PageRoute::Studies)),
    ("/studies/:study", |it| {
        it.study(|study| PageRoute::Study { study })
    }),
    ("/studies/:study/figures", |it| {
        it.study(|study| PageRoute::Figures { study })
    }),
    ("/studies/:study/late-interaction/:ranker", |it| {
        Some(PageRoute::LateInteraction {
            study: it.text("study")?,
            ranker: Some(it.text("ranker")?),
        })
    }),
    ("/studies/:study/late-interaction", |it| {
        Some(PageRoute::LateInteraction {
            study: it.text("study")?,
            ranker: it.text("ranker"),
        })
    }),
    ("/studies/:study/compare", |it| {
        it.study(|study| PageRoute::CompareRankers { study })
    }),
    ("/studies/:study/behavioral-tests", |it| {
        it.study(|study| PageRoute::BehavioralTests { study })
    }),
    ("/studies/:study/human-judgments", |it| {
        it.study(|study| PageRoute::HumanJudgments { study })
    }),
    ("/studies/:study/reproducibility", |it| {
        it.study(|study| PageRoute::Reproducibility { study })
    }),
    ("/studies/:study/trial", |it| {
        it.study(|study| PageRoute::Trial { study })
    }),
    (
        "/studies/:study/rankers/:ranker/probes/:probe/instances",
        instances_page,
    ),
    (
        "/studies/:study/probes/:probe/instances/:number",
        instance_page,
    ),
    ("/reproductions", |_| {
        Some(PageRoute::Reproductions { table: None })
    }),
    ("/reproductions/:paper/tables/:table", |it| {
        let paper: ReproduciblePaper = it.parsed("paper")?;
        let table = it.parsed("table")?;
        let table = paper
            .reproducible_table_numbers()
            .contains(&table)
            .then_some(table)?;
        let table = Some(PaperTable { paper, table });
        Some(PageRoute::Reproductions { table })
    }),
    ("/compare-studies", |_| Some(PageRoute::CompareStudies)),
    ("/playground", |_| Some(PageRoute::Playground)),
    ("/workbench", |_| Some(PageRoute::Workbench)),
    ("/trainings", |_| Some(PageRoute::Trainings)),
    ("/trainings/:training", |it| {
        Some(PageRoute::Training {
            training: it.text("training")?,
        })
    }),
    ("/annotation/tasks", |_| Some(PageRoute::ReviewTasks)),
    ("/annotation/tasks/new", |_| Some(PageRoute::NewTask)),
    ("/annotation/tasks/:task", |it| {
        it.task(|task| PageRoute::AnnotateTask { task })
    }),
    ("/annotation/tasks/:task/curate", |it| {
        it.task(|task| PageRoute::CurateTask { task })
    }),
    ("/join", |_| Some(PageRoute::Join)),
    ("/people", |_| Some(PageRoute::People)),
    ("/operator", |_| Some(PageRoute::Operator)),
    ("/about", |_| Some(PageRoute::About)),
    ("/about/axioms/:axiom", |it| {
        Some(PageRoute::AxiomExample {
            axiom: it.parsed("axiom")?,
        })
    }),
    ("/studies/:study/instances", instances_page),
    ("/studies/:study/instance", instance_page),
];

/// The values of the pages that a host of files has in the query string, since it cannot have a
/// file for each value.
const QUERY_VALUES: [&str; 3] = ["ranker", "probe", "number"];

fn instances_page(values: &PathValues) -> Option<PageRoute> {
    Some(PageRoute::Instances {
        study: values.text("study")?,
        probe: values.parsed("probe")?,
        ranker: values.text("ranker")?,
    })
}

fn instance_page(values: &PathValues) -> Option<PageRoute> {
    Some(PageRoute::Instance {
        study: values.text("study")?,
        probe: values.parsed("probe")?,
        number: values.parsed("number")?,
    })
}

/// The values in an address by their names in the pattern, unescaped.
pub(crate) struct PathValues(pub(crate) Vec<(&'static str, String)>);

impl PathValues {
    fn text(&self, name: &str) -> Option<String> {
        let found = self.0.iter().find(|it| it.0 == name);
        found.map(|it| it.1.clone())
    }

    fn study(&self, page: fn(String) -> PageRoute) -> Option<PageRoute> {
        Some(page(self.text("study")?))
    }

    fn task(&self, page: fn(TaskId) -> PageRoute) -> Option<PageRoute> {
        Some(page(TaskId(self.parsed("task")?)))
    }

    fn parsed<T: FromStr>(&self, name: &str) -> Option<T> {
        self.text(name)?.parse().ok()
    }

    /// Matches a path against a pattern; none if it does not match.
    pub(crate) fn match_path(pattern: &'static str, path: &str) -> Option<PathValues> {
        let mut values = Vec::new();
        let (mut names, mut parts) = (pattern.split('/'), path.split('/'));
        loop {
            match (names.next(), parts.next()) {
                (None, None) => return Some(PathValues(values)),
                (Some(name), Some(part)) => match name.strip_prefix(':') {
                    Some(name) if !part.is_empty() => values.push((name, unescape(part))),
                    None if name == part => {}
                    _ => return None,
                },
                _ => return None,
            }
        }
    }
}

impl PageRoute {
    /// Returns the page at a path, with or without a trailing slash, and a query string.
    pub(crate) fn parse(path: &str, search: &str) -> Option<PageRoute> {
        PageRoute::parse_on(SiteHost::current(), path, search)
    }

    fn parse_on(host: &SiteHost, path: &str, search: &str) -> Option<PageRoute> {
        let path = match host.path_below_base(path)? {
            "/" => "/",
            path => path.strip_suffix('/').unwrap_or(path),
        };
        let parameters = parse_parameters(search);
        let mut routes = ROUTES.iter();
        routes.find_map(|(pattern, page)| {
            let mut values = PathValues::match_path(pattern, path)?;
            for name in QUERY_VALUES {
                let value = parameters.iter().find(|it| it.0 == name);
                values.0.extend(value.map(|it| (name, it.1.clone())));
            }
            page(&values)
        })
    }

    /// Returns the name of the study that the page is about.
    pub(crate) fn study(&self) -> Option<String> {
        self.values().text("study")
    }

    /// Returns the title of a page of the lazy bundle; none for the pages of the main program.
    pub(crate) fn lazy_title(&self) -> Option<&'static str> {
        match self {
            PageRoute::Studies
            | PageRoute::Study { .. }
            | PageRoute::BehavioralTests { .. }
            | PageRoute::HumanJudgments { .. }
            | PageRoute::Figures { .. }
            | PageRoute::Reproducibility { .. }
            | PageRoute::Instances { .. }
            | PageRoute::Workbench
            | PageRoute::AxiomExample { .. } => None,
            PageRoute::LateInteraction { .. } => Some("Late interaction"),
            PageRoute::CompareRankers { .. } => Some("Compare rankers"),
            PageRoute::Instance { .. } => Some("Instance"),
            PageRoute::Reproductions { .. } => Some("Reproductions"),
            PageRoute::CompareStudies => Some("Compare studies"),
            PageRoute::Playground => Some("Playground"),
            PageRoute::Trainings => Some("Trainings"),
            PageRoute::Training { .. } => Some("Training"),
            PageRoute::ReviewTasks => Some("Annotation"),
            PageRoute::AnnotateTask { .. } => Some("Annotate"),
            PageRoute::CurateTask { .. } => Some("Curate"),
            PageRoute::NewTask => Some("New annotation task"),
            PageRoute::Trial { .. } => Some("Try annotating"),
            PageRoute::Join => Some("Join"),
            PageRoute::People => Some("People"),
            PageRoute::Operator => Some("Models and jobs"),
            PageRoute::About => Some("About"),
        }
    }

    /// Returns the title of a page of the lazy bundle, followed by the study or training if the
    /// page is about one.
    pub(crate) fn full_title(&self) -> Option<String> {
        let name = self.lazy_title()?;
        Some(match self {
            PageRoute::Training { training: about } => format!("{name}, {about}"),
            page => match page.study() {
                Some(study) => format!("{name}, {study}"),
                None => name.to_owned(),
            },
        })
    }

    /// Returns whether the page is one of an annotator, which the program `annotation` shows.
    pub(crate) fn is_of_annotator(&self) -> bool {
        matches!(
            self,
            PageRoute::ReviewTasks | PageRoute::AnnotateTask { .. } | PageRoute::Join
        )
    }

    /// Returns whether another page replaces this one in place, so that it stays mounted: the next
    /// instance, or another ranker of the Late interaction page of a study.
    pub(crate) fn stays_mounted_for(&self, next: &PageRoute) -> bool {
        match (self, next) {
            (PageRoute::Instance { .. }, PageRoute::Instance { .. }) => true,
            (
                PageRoute::LateInteraction { study, .. },
                PageRoute::LateInteraction { study: other, .. },
            ) => study == other,
            _ => false,
        }
    }

    /// Returns the address of the page.
    pub(crate) fn href(&self) -> String {
        self.href_with(Vec::<(&str, String)>::new())
    }

    /// Returns the address of the page with parameters.
    pub(crate) fn href_with(
        &self,
        parameters: impl IntoIterator<Item = (impl AsRef<str>, String)>,
    ) -> String {
        self.href_on(SiteHost::current(), parameters)
    }

    fn href_on(
        &self,
        host: &SiteHost,
        parameters: impl IntoIterator<Item = (impl AsRef<str>, String)>,
    ) -> String {
        let values = self.values();
        let is_own = |it: &&Route| it.1(&values).as_ref() == Some(self);
        let mut routes = ROUTES.iter();
        // A host of files has fewer pages if the query string has the values.
        let route = match host.has_only_files {
            true => routes
                .filter(is_own)
                .min_by_key(|it| it.0.matches(':').count()),
            false => routes.find(is_own),
        };
        let (pattern, _) = route.expect("every page has a route");
        let parts = pattern.split('/').map(|part| match part.strip_prefix(':') {
            Some(name) => escape(&values.text(name).unwrap_or_default()),
            None => part.to_owned(),
        });
        let mut path = host.address(&parts.collect::<Vec<String>>().join("/"));
        if host.has_only_files && !path.ends_with('/') {
            path.push('/');
        }
        let is_in_path = |name: &str| {
            pattern
                .split('/')
                .any(|it| it.strip_prefix(':') == Some(name))
        };
        let outside = values.0.iter().filter(|it| !is_in_path(it.0));
        let outside = outside.map(|it| (it.0.to_owned(), it.1.clone()));
        let parameters = parameters.into_iter();
        let parameters = parameters.map(|it| (it.0.as_ref().to_owned(), it.1));
        path + &query_string(outside.chain(parameters))
    }

    fn values(&self) -> PathValues {
        PathValues(match self {
            PageRoute::Studies
            | PageRoute::CompareStudies
            | PageRoute::Playground
            | PageRoute::Workbench
            | PageRoute::Trainings
            | PageRoute::ReviewTasks
            | PageRoute::NewTask
            | PageRoute::Join
            | PageRoute::People
            | PageRoute::Operator
            | PageRoute::About => Vec::new(),
            PageRoute::Study { study }
            | PageRoute::Figures { study }
            | PageRoute::LateInteraction {
                study,
                ranker: None,
            }
            | PageRoute::CompareRankers { study }
            | PageRoute::BehavioralTests { study }
            | PageRoute::HumanJudgments { study }
            | PageRoute::Reproducibility { study }
            | PageRoute::Trial { study } => vec![("study", study.clone())],
            PageRoute::LateInteraction {
                study,
                ranker: Some(ranker),
            } => vec![("study", study.clone()), ("ranker", ranker.clone())],
            PageRoute::Instances {
                study,
                probe,
                ranker,
            } => vec![
                ("study", study.clone()),
                ("probe", probe.slug().into_owned()),
                ("ranker", ranker.clone()),
            ],
            PageRoute::Instance {
                study,
                probe,
                number,
            } => vec![
                ("study", study.clone()),
                ("probe", probe.slug().into_owned()),
                ("number", number.to_string()),
            ],
            PageRoute::Reproductions { table } => {
                let table = table.iter();
                let values = table.flat_map(|it| {
                    [
                        ("paper", it.paper.short_name().to_owned()),
                        ("table", it.table.to_string()),
                    ]
                });
                values.collect()
            }
            PageRoute::Training { training } => vec![("training", training.clone())],
            PageRoute::AxiomExample { axiom } => vec![("axiom", axiom.slug().into_owned())],
            PageRoute::AnnotateTask { task } | PageRoute::CurateTask { task } => {
                vec![("task", task.0.to_string())]
            }
        })
    }

    /// The pages in the header, with their names.
    pub(crate) const NAVIGATION: [(PageRoute, &str); 7] = [
        (PageRoute::Studies, "Studies"),
        (PageRoute::Playground, "Playground"),
        (PageRoute::Workbench, "Workbench"),
        (PageRoute::Trainings, "Trainings"),
        (PageRoute::ReviewTasks, "Annotation"),
        (PageRoute::Reproductions { table: None }, "Reproductions"),
        (PageRoute::About, "About"),
    ];

    /// Returns whether a path is that of this page or of one below it.
    pub(crate) fn contains(&self, path: &str) -> bool {
        let Some(below_base) = SiteHost::current().path_below_base(path) else {
            return false;
        };
        let is_below = |first: &str| {
            let rest = below_base.strip_prefix(first);
            let is_below = rest.is_some_and(|it| it.is_empty() || it.starts_with('/'));
            is_below && PageRoute::parse(path, ANY_INSTANCE).is_some()
        };
        match self {
            PageRoute::Studies => below_base == "/" || is_below("/studies"),
            PageRoute::Reproductions { .. } => is_below("/reproductions"),
            PageRoute::Trainings => is_below("/trainings"),
            PageRoute::ReviewTasks => ["/annotation", "/join", "/people"]
                .into_iter()
                .any(is_below),
            other => PageRoute::parse(path, "").as_ref() == Some(other),
        }
    }
}

/// A query string for a path whose values do not matter.
pub(crate) const ANY_INSTANCE: &str = "ranker=any&probe=tfc1&number=0";

/// Everything except the unreserved characters of RFC 3986.
const ESCAPED_CHARACTERS: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// Percent-encodes a part of an address.
pub(crate) fn escape(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED_CHARACTERS).to_string()
}

pub(crate) fn unescape(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Returns parameters as an escaped query string, `?name=value&…`, or an empty text if there are
/// none.
pub(crate) fn query_string(
    parameters: impl IntoIterator<Item = (impl AsRef<str>, String)>,
) -> String {
    let mut text = String::new();
    for (name, value) in parameters {
        text.push(if text.is_empty() { '?' } else { '&' });
        text.push_str(&format!("{}={}", escape(name.as_ref()), escape(&value)));
    }
    text
}

/// Returns the parameters of a query string, with or without its `?`, unescaped.
pub(crate) fn parse_parameters(search: &str) -> Vec<(String, String)> {
    let parameters = search.trim_start_matches('?').split('&');
    let parameters = parameters.filter(|it| !it.is_empty()).map(|it| {
        let (name, value) = it.split_once('=').unwrap_or((it, ""));
        let [name, value] = [name, value].map(|it| unescape(&it.replace('+', " ")));
        (name, value)
    });
    parameters.collect()
}

#[cfg(test)]
mod tests;
