//! The data of the caller as a file, and the deletion of their account.

use axum::Json;
use axum::http::{HeaderMap, header};
use axum::response::IntoResponse;
use shared::api::own_data::{DeleteOwnAccountRequest, GetOwnDataRequest};
use shared::error::Error as InputError;

use super::{SignedInResponse, check_own_password};
use crate::clock::unix_time_ms;
use crate::error::Error;
use crate::http::access;
use crate::http::api_request::ApiRequest;
use crate::store::people::normalized_name_key;

pub(in crate::http) async fn get_own_data(
    ApiRequest(app, caller, _): ApiRequest<GetOwnDataRequest>,
) -> Result<impl IntoResponse + use<>, Error> {
    let person = caller.require_person()?.id;
    let tasks = app.annotation.person_data_by_task(person).await?;
    let data = app.store.person_data(person, tasks).await?;
    let name = "attachment; filename=\"axioscope-my-data.json\"";
    Ok(([(header::CONTENT_DISPOSITION, name)], Json(data)))
}

pub(in crate::http) async fn delete_own_account(
    headers: HeaderMap,
    ApiRequest(app, caller, asked): ApiRequest<DeleteOwnAccountRequest>,
) -> Result<SignedInResponse, Error> {
    let known = app.store.person_by_id(caller.require_person()?.id).await?;
    let name = &known.person.name;
    if normalized_name_key(&asked.confirmed_name) != normalized_name_key(name) {
        let reason = format!("is not your name; type {name} to delete your account");
        return Err(InputError::conflicting_value("confirmed_name", reason).into());
    }
    check_own_password(&app, &caller, &known, asked.current_password).await?;
    if app.store.is_last_named_operator(known.person.id).await? {
        return Err(Error::Conflict {
            reason: "you are the only operator with a name; invite another one first, or have \
                     your account deleted on the server by `axioscope people delete NAME`"
                .to_owned(),
        });
    }
    app.store
        .delete_person(known.person.id, unix_time_ms())
        .await?;
    let cookie = access::clear_cookie(&app.exposure, &headers);
    let caller = caller.with_session(&app, None).await?;
    Ok(([(header::SET_COOKIE, cookie)], Json(caller.identity())))
}
