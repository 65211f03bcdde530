//! The account page, on which people export their data and delete their account, and the footer
//! with the checks of the site.

use shared::api::own_data::OwnDataResponse;
use shared::api::people::{AccessRole, ListPeopleRequest};

use super::front_end;
use super::tab::{AriaRole, with_tab};
use crate::annotation::invite;
use crate::harness::TestHome;

#[test]
fn an_annotator_exports_their_data_and_deletes_their_account() {
    if front_end().is_none() {
        return;
    }
    let home = TestHome::new();
    let server = home.serve(&["--canary-interval", "1"]);
    with_tab(&server.address, |tab| {
        let link = server.call(&invite(AccessRole::Annotator)).token;
        tab.open(&format!("/join#{link}"));
        for (name, reason) in [
            ("A\u{200B}nn", "contains an invisible character (U+200B)"),
            ("\u{3164}", "contains only invisible characters"),
        ] {
            tab.fill("Display name", name);
            tab.click(AriaRole::Button, "Join");
            tab.wait_for_text(reason);
        }
        tab.fill("Display name", "Ann");
        tab.click(AriaRole::Button, "Join");
        tab.wait_for_address("/annotation");
        tab.open("/join");
        let data = tab.download(&home.path("."), "Export my data", "axioscope-my-data.json");
        let data: OwnDataResponse = serde_json::from_str(&data).unwrap();
        assert_eq!(data.person.name, "Ann");

        tab.click(AriaRole::Button, "Delete my account");
        tab.fill("Type Ann to confirm", "Anna");
        tab.click(AriaRole::Button, "Delete my account for good");
        tab.wait_for_text("type Ann to delete your account");
        tab.expect_in_console("/api/people/me/delete");
        tab.fill("Type Ann to confirm", "Ann");
        tab.click(AriaRole::Button, "Delete my account for good");
        // Everybody without a session is the operator of this server.
        tab.wait_for_text("You are the operator of this server");
        let people = server.call(&ListPeopleRequest {}).people;
        assert!(people[0].is_deleted && people[0].person.name != "Ann");

        tab.open("/about");
        tab.wait_for_text("All checks of this site passed at");
    });
}
