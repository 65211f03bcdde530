//! Where each page is: addresses are written here and nowhere else.

use shared::api::review::TaskNo;
use shared::probe::{Mode, Probe};

/// A page with all that its path says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Page {
    /// The list of studies.
    Studies,
    /// One study.
    Study {
        /// Name of the study.
        study: String,
    },
    /// What the papers show of a study beside its table.
    Figures {
        /// Name of the study.
        study: String,
    },
    /// A study's rankers in late interaction, from inside.
    Inside {
        /// Name of the study.
        study: String,
    },
    /// Where two rankers of a study differ.
    Differ {
        /// Name of the study.
        study: String,
    },
    /// What people say of a study's instances: a section of its page.
    Said {
        /// Name of the study.
        study: String,
    },
    /// The instances of a cell.
    Instances {
        /// Name of the study.
        study: String,
        /// Column.
        probe: Probe,
        /// Row, counted from 0.
        ranker: usize,
    },
    /// One instance.
    Instance {
        /// Name of the study.
        study: String,
        /// Column.
        probe: Probe,
        /// Reading of the axiom.
        mode: Mode,
        /// Place among its instances.
        number: u64,
    },
    /// Tables of papers beside ours.
    Replay,
    /// Own texts against every axiom.
    Playground,
    /// Own files to a study.
    Workbench,
    /// Review tasks of the caller.
    Review,
    /// The queue of a task.
    Annotate {
        /// Which task.
        task: TaskNo,
    },
    /// How far a task is and what came out of it.
    Curate {
        /// Which task.
        task: TaskNo,
    },
    /// A new task.
    MakeTask,
    /// A few instances of a study to try reviewing with.
    Try {
        /// Name of the study.
        study: String,
    },
    /// Where the link of an invitation leads, and where people sign in.
    Join,
    /// People and invitations.
    People,
    /// Models and jobs of the server.
    Operator,
    /// What each axiom says, and how to cite.
    About,
}

impl Page {
    /// Where the page is.
    pub(crate) fn href(&self) -> String {
        match self {
            Page::Studies => "/".to_owned(),
            Page::Study { study } => format!("/study/{study}"),
            Page::Figures { study } => format!("/study/{study}/figures"),
            Page::Inside { study } => format!("/study/{study}/inside"),
            Page::Differ { study } => format!("/study/{study}/differ"),
            Page::Said { study } => format!("/study/{study}/said"),
            Page::Instances {
                study,
                probe,
                ranker,
            } => {
                format!("/study/{study}/{}/{ranker}", escape(&probe.slug()))
            }
            Page::Instance {
                study,
                probe,
                mode,
                number,
            } => {
                format!(
                    "/study/{study}/{}/{}/instance/{number}",
                    escape(&probe.slug()),
                    mode.name()
                )
            }
            Page::Replay => "/replay".to_owned(),
            Page::Playground => "/playground".to_owned(),
            Page::Workbench => "/workbench".to_owned(),
            Page::Review => "/review".to_owned(),
            Page::Annotate { task } => format!("/review/{}", task.0),
            Page::Curate { task } => format!("/review/{}/curate", task.0),
            Page::MakeTask => "/review/new".to_owned(),
            Page::Try { study } => format!("/review/try/{study}"),
            Page::Join => "/join".to_owned(),
            Page::People => "/people".to_owned(),
            Page::Operator => "/operator".to_owned(),
            Page::About => "/about".to_owned(),
        }
    }

    /// The study whose page is at a path.
    pub(crate) fn study_at(path: &str) -> Option<&str> {
        let study = path.strip_prefix("/study/")?;
        (!study.is_empty() && !study.contains('/')).then_some(study)
    }

    /// The study whose figures are at a path.
    pub(crate) fn figures_at(path: &str) -> Option<&str> {
        Page::study_at(path.strip_suffix("/figures")?)
    }

    /// The study whose rankers are shown from inside at a path.
    pub(crate) fn inside_at(path: &str) -> Option<&str> {
        Page::study_at(path.strip_suffix("/inside")?)
    }

    /// The study whose rankers are compared at a path.
    pub(crate) fn differ_at(path: &str) -> Option<&str> {
        Page::study_at(path.strip_suffix("/differ")?)
    }

    /// The study of whose instances is shown what people say at a path.
    pub(crate) fn said_at(path: &str) -> Option<&str> {
        Page::study_at(path.strip_suffix("/said")?)
    }

    /// What the path of an instance names: study, axiom, mode and number.
    pub(crate) fn instance_at(path: &str) -> Option<[&str; 4]> {
        let parts: Vec<&str> = path.strip_prefix("/study/")?.split('/').collect();
        match parts[..] {
            [study, probe, mode, "instance", number] => Some([study, probe, mode, number]),
            _ => None,
        }
    }

    /// The page of reviewing that is at a path.
    pub(crate) fn review_at(path: &str) -> Option<Page> {
        let task = |text: &str| text.parse().ok().map(TaskNo);
        let mut parts = path.strip_prefix('/')?.split('/');
        let parts = [(); 4].map(|()| parts.next());
        match parts {
            [Some("join"), None, ..] => Some(Page::Join),
            [Some("people"), None, ..] => Some(Page::People),
            [Some("review"), None, ..] => Some(Page::Review),
            [Some("review"), Some("new"), None, _] => Some(Page::MakeTask),
            [Some("review"), Some("try"), Some(study), None] => Some(Page::Try {
                study: study.to_owned(),
            }),
            [Some("review"), Some(no), None, _] => Some(Page::Annotate { task: task(no)? }),
            [Some("review"), Some(no), Some("curate"), None] => {
                Some(Page::Curate { task: task(no)? })
            }
            _ => None,
        }
    }

    /// The pages of the header with their names.
    pub(crate) const NAVIGATION: [(Page, &str); 6] = [
        (Page::Studies, "Studies"),
        (Page::Playground, "Playground"),
        (Page::Workbench, "Workbench"),
        (Page::Review, "Review"),
        (Page::Replay, "Replay"),
        (Page::About, "About"),
    ];

    /// Whether a path is this page or one below it.
    pub(crate) fn holds(&self, path: &str) -> bool {
        match self {
            Page::Studies => path == "/" || path.starts_with("/study/"),
            Page::Review => Page::review_at(path).is_some(),
            other => path == other.href(),
        }
    }
}

/// Percent-encodes all but what RFC 3986 calls unreserved.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_of_reviewing_is_found_where_it_says_it_is() {
        let task = TaskNo(7);
        let study = "demo".to_owned();
        for page in [
            Page::Review,
            Page::Annotate { task },
            Page::Curate { task },
            Page::MakeTask,
            Page::Try { study },
            Page::Join,
            Page::People,
        ] {
            assert_eq!(Page::review_at(&page.href()), Some(page.clone()));
        }
        assert!(Page::Review.holds("/review/7"));
        for none in ["/review/x", "/review/7/curate/8", "/join/7", "/replay", "/"] {
            assert_eq!(Page::review_at(none), None, "{none}");
        }
    }

    #[test]
    fn a_page_below_a_study_belongs_to_studies() {
        let page = Page::Instances {
            study: "demo".to_owned(),
            probe: Probe::Tfc1,
            ranker: 2,
        };
        assert_eq!(page.href(), "/study/demo/tfc1/2");
        assert!(Page::Studies.holds(&page.href()));
        assert!(!Page::About.holds(&page.href()));
        let study = "demo".to_owned();
        let figures = Page::Figures { study }.href();
        assert_eq!(Page::figures_at(&figures), Some("demo"));
        assert_eq!(Page::figures_at("/study/demo"), None);
        let study = "demo".to_owned();
        let differ = Page::Differ { study }.href();
        assert_eq!(Page::differ_at(&differ), Some("demo"));
        assert_eq!(Page::differ_at(&figures), None);
        let study = "demo".to_owned();
        let said = Page::Said { study }.href();
        assert_eq!(Page::said_at(&said), Some("demo"));
        assert_eq!(Page::study_at("/study/demo"), Some("demo"));
        assert_eq!(Page::study_at(&figures), None);
        let instance = "/study/demo/tfc1/fixed/instance/0";
        assert_eq!(
            Page::instance_at(instance),
            Some(["demo", "tfc1", "fixed", "0"])
        );
        assert_eq!(Page::instance_at("/study/demo/tfc1/0"), None);
    }
}
