//! The command `people`: manages people and invitations, even while a server is running.

use std::path::Path;

use clap::{Subcommand, ValueEnum};
use shared::api::people::{
    AccessRole, CreateInvitationResponse, PendingInvitation, PeopleAndInvitationsResponse,
    PersonAccountSummary,
};
use shared::error::Error as InputError;
use shared::qr_code::QrCodeModules;

use super::{CommandOutcome, print_json};
use crate::clock::unix_time_ms;
use crate::error::Error;
use crate::runtime::run_with_database;
use crate::store::people::{NewInvitation, PersonRecord};
use crate::store::{DataFolder, Database};

/// Holds the command-line arguments of `axioscope people`.
#[derive(clap::Args)]
pub(crate) struct ManagePeopleArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Create a single-use invitation link. The first operator joins this way: `axioscope people
    /// invite --role operator`.
    Invite(InviteArgs),
    /// List people and open invitations
    List {
        /// Print JSON, as GET /api/people returns it
        #[arg(long)]
        json: bool,
    },
    /// Revoke a person's access and end all their sessions, or withdraw an invitation. Their work
    /// stays. `invite --person NAME` restores access.
    Revoke {
        /// Name of the person
        #[arg(required_unless_present = "invitation")]
        name: Option<String>,
        /// Number of the invitation, as `people list` shows it
        #[arg(long, value_name = "NO", conflicts_with = "name")]
        invitation: Option<u32>,
        /// Print the updated list as JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete a person: name, password, sessions and open invitations. Their decisions stay,
    /// attributed to `Deleted person N`. This cannot be undone.
    Delete {
        /// Name of the person
        name: String,
        /// Print the updated list as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(clap::Args)]
struct InviteArgs {
    /// Role of the new person
    #[arg(long, required_unless_present = "person")]
    role: Option<InvitableRole>,
    /// Invite an existing person again, on a new device or after access was revoked
    #[arg(long, value_name = "NAME", conflicts_with = "role")]
    person: Option<String>,
    /// Validity of the link in hours, 1 to 720
    #[arg(long, default_value_t = 72)]
    hours: u32,
    /// Note shown in the list of invitations
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
    /// Server address (https://HOST), to print the complete link
    #[arg(long, value_name = "URL", env = "AXIOSCOPE_PUBLIC_URL")]
    site: Option<String>,
    /// Show the complete link as a QR code for the camera of a phone, too
    #[arg(long, requires = "site", conflicts_with = "json")]
    qr: bool,
    /// Print JSON, as POST /api/invitations returns it
    #[arg(long)]
    json: bool,
}

/// Roles that a person can be invited to.
#[derive(Clone, Copy, ValueEnum)]
enum InvitableRole {
    /// Can do everything
    Operator,
    /// Creates tasks and invites annotators
    Curator,
    /// Annotates items
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

impl ManagePeopleArgs {
    pub(super) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        let folder = DataFolder::open(data)?;
        run_with_database(&folder, async |store| match self.command {
            Command::Invite(it) => it.run(store).await,
            Command::List { json } => tell_all(store, json).await,
            Command::Revoke {
                name,
                invitation,
                json,
            } => {
                if let Some(name) = name {
                    let known = named(store, &name).await?;
                    store
                        .revoke_access_of_person(known.person.id, unix_time_ms())
                        .await?;
                }
                if let Some(no) = invitation {
                    store
                        .pending_invitation_by_number(no, unix_time_ms())
                        .await?;
                    store.revoke_invitation(no, unix_time_ms()).await?;
                }
                tell_all(store, json).await
            }
            Command::Delete { name, json } => {
                let known = named(store, &name).await?;
                store.delete_person(known.person.id, unix_time_ms()).await?;
                tell_all(store, json).await
            }
        })?;
        Ok(CommandOutcome::Done)
    }
}

impl InviteArgs {
    async fn run(self, store: &Database) -> Result<(), Error> {
        let known = match &self.person {
            Some(name) => Some(named(store, name).await?),
            None => None,
        };
        let asked = self.role.map_or(AccessRole::Visitor, InvitableRole::role);
        let invite = NewInvitation {
            role: known.as_ref().map_or(asked, |it| it.role),
            person: known.map(|it| it.person.id),
            hours: self.hours,
            note: self.note,
            made_by: None,
        };
        let made = store.create_invitation(&invite, unix_time_ms()).await?;
        match self.json {
            true => print_json(&made),
            false => {
                let link = link(self.site.as_deref(), &made);
                println!("{link}");
                if self.qr {
                    eprint!("{}", QrCodeModules::encode_link(&link)?.terminal_text());
                }
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

async fn named(store: &Database, name: &str) -> Result<PersonRecord, Error> {
    let found = store.person_by_name(name).await?;
    found.ok_or_else(|| InputError::name_not_found("person", name).into())
}

/// Returns the link of an invitation. The token follows `#`, so that browsers do not send it and
/// servers do not log it.
fn link(site: Option<&str>, made: &CreateInvitationResponse) -> String {
    let site = site.unwrap_or_default().trim_end_matches('/');
    format!("{site}/join#{}", made.token)
}

async fn tell_all(store: &Database, json: bool) -> Result<(), Error> {
    let everybody = store.list_people_and_invitations(unix_time_ms()).await?;
    match json {
        true => print_json(&everybody),
        false => print!("{}", table(&everybody)),
    }
    Ok(())
}

fn table(everybody: &PeopleAndInvitationsResponse) -> String {
    let people = everybody.people.iter().map(person_line);
    let invited = everybody.invitations.iter().map(invited_line);
    people.chain(invited).collect()
}

fn person_line(it: &PersonAccountSummary) -> String {
    let state = match (it.is_deleted, it.is_revoked, it.n_sessions) {
        (true, ..) => "deleted".to_owned(),
        (false, true, _) => "turned away".to_owned(),
        (false, false, n) => format!("signed in {n} times"),
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

/// Formats a time in milliseconds since 1970, to the second.
fn said(moment_ms: u64) -> String {
    let moment = i64::try_from(moment_ms).ok();
    let moment = moment.and_then(|it| jiff::Timestamp::from_millisecond(it).ok());
    moment.map_or_else(|| "never".to_owned(), |it| format!("{it:.0}"))
}
