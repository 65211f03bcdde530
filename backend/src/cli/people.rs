//! `people`: lets people in and turns them away, also while a server is running.

use std::path::Path;

use clap::{Subcommand, ValueEnum};
use shared::api::people::{
    AccessRole, CreateInvitationResponse, PendingInvitation, PeopleResponse, PersonAccount,
};
use shared::error::Error as Wrong;

use super::{CommandOutcome, print_json};
use crate::clock::now_ms;
use crate::error::Error;
use crate::runtime::with_store;
use crate::store::people::{NewInvitationRow, PersonRecord};
use crate::store::{DataFolder, Store};

/// Holds the command-line arguments of `axioscope people`.
#[derive(clap::Args)]
pub(crate) struct PeopleArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a link that lets somebody in, once
    ///
    /// The first operator comes in this way: `axioscope people invite --role operator`.
    Invite(InviteArgs),
    /// List people and open invitations
    List {
        /// As JSON, the same that /api/people says
        #[arg(long)]
        json: bool,
    },
    /// Turn somebody away, with all their sessions, or take an invitation back
    ///
    /// What they did stays. `invite --person NAME` lets them in again.
    Revoke {
        /// Who
        #[arg(required_unless_present = "invitation")]
        name: Option<String>,
        /// The number of an invitation, as `people list` says it
        #[arg(long, value_name = "NO", conflicts_with = "name")]
        invitation: Option<u32>,
        /// As JSON, the same that /api/people says afterwards
        #[arg(long)]
        json: bool,
    },
}

#[derive(clap::Args)]
struct InviteArgs {
    /// What they may do
    #[arg(long, required_unless_present = "person")]
    role: Option<InvitableRole>,
    /// Let somebody in again who has a name and a role, on a new device or after they were turned
    /// away
    #[arg(long, value_name = "NAME", conflicts_with = "role")]
    person: Option<String>,
    /// How long the link holds, 1 to 720
    #[arg(long, default_value_t = 72)]
    hours: u32,
    /// Whom it is for, for the list of invitations
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
    /// Where the server is, as https://HOST, to print the whole link
    #[arg(long, value_name = "URL")]
    site: Option<String>,
    /// As JSON, the same that /api/people/invite says
    #[arg(long)]
    json: bool,
}

/// Roles that somebody can be invited to.
#[derive(Clone, Copy, ValueEnum)]
enum InvitableRole {
    /// Everything
    Operator,
    /// Makes tasks, invites annotators
    Curator,
    /// Decides
    Annotator,
}

impl InvitableRole {
    fn role(self) -> AccessRole {
        match self {
            InvitableRole::Operator => AccessRole::Operator,
            InvitableRole::Curator => AccessRole::Curator,
            InvitableRole::Annotator => AccessRole::Annotator,
        }
    }
}

impl PeopleArgs {
    pub(super) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        let folder = DataFolder::open(data)?;
        with_store(&folder, async |store| match self.command {
            Command::Invite(it) => it.run(store).await,
            Command::List { json } => tell_all(store, json).await,
            Command::Revoke {
                name,
                invitation,
                json,
            } => {
                if let Some(name) = name {
                    let known = named(store, &name).await?;
                    store.revoke_person(known.person.id, now_ms()).await?;
                }
                if let Some(no) = invitation {
                    store.open_invitation(no, now_ms()).await?;
                    store.revoke_invitation(no, now_ms()).await?;
                }
                tell_all(store, json).await
            }
        })?;
        Ok(CommandOutcome::Done)
    }
}

impl InviteArgs {
    async fn run(self, store: &Store) -> Result<(), Error> {
        let known = match &self.person {
            Some(name) => Some(named(store, name).await?),
            None => None,
        };
        let asked = self.role.map_or(AccessRole::Visitor, InvitableRole::role);
        let invite = NewInvitationRow {
            role: known.as_ref().map_or(asked, |it| it.role),
            person: known.map(|it| it.person.id),
            hours: self.hours,
            note: self.note,
            made_by: None,
        };
        let made = store.invite(&invite, now_ms()).await?;
        match self.json {
            true => print_json(&made),
            false => {
                println!("{}", link(self.site.as_deref(), &made));
                eprintln!(
                    "It lets in one {}, once, until {}. It is not shown again.",
                    made.invitation.role.name(),
                    said(made.invitation.expires_ms)
                );
            }
        }
        Ok(())
    }
}

async fn named(store: &Store, name: &str) -> Result<PersonRecord, Error> {
    let found = store.person_named(name).await?;
    found.ok_or_else(|| Wrong::not_found("person", name).into())
}

/// The token stands behind `#`, which no browser sends and no log holds.
fn link(site: Option<&str>, made: &CreateInvitationResponse) -> String {
    let site = site.unwrap_or_default().trim_end_matches('/');
    format!("{site}/join#{}", made.token)
}

async fn tell_all(store: &Store, json: bool) -> Result<(), Error> {
    let everybody = store.list_people(now_ms()).await?;
    match json {
        true => print_json(&everybody),
        false => print!("{}", table(&everybody)),
    }
    Ok(())
}

fn table(everybody: &PeopleResponse) -> String {
    let people = everybody.people.iter().map(person_line);
    let invited = everybody.invitations.iter().map(invited_line);
    people.chain(invited).collect()
}

fn person_line(it: &PersonAccount) -> String {
    let state = match (it.is_revoked, it.n_sessions) {
        (true, _) => "turned away".to_owned(),
        (false, n) => format!("signed in {n} times"),
    };
    let seen = said(it.last_seen_ms);
    format!(
        "{}\t{}\tseen {seen}\t{state}\n",
        it.person.name,
        it.role.name()
    )
}

fn invited_line(it: &PendingInvitation) -> String {
    let note = it.note.replace(['\n', '\t'], " ");
    let until = said(it.expires_ms);
    format!(
        "invitation {}\t{}\tuntil {until}\t{note}\n",
        it.id,
        it.role.name()
    )
}

/// A moment, to the second.
fn said(moment_ms: u64) -> String {
    let moment = i64::try_from(moment_ms).ok();
    let moment = moment.and_then(|it| jiff::Timestamp::from_millisecond(it).ok());
    moment.map_or_else(|| "never".to_owned(), |it| format!("{it:.0}"))
}
