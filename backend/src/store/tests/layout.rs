//! Tests of database layouts: migrations, earlier releases and later ones.

use super::*;

#[tokio::test]
async fn a_database_from_the_future_is_left_as_it_is() {
    for sign in [
        "PRAGMA user_version = 999",
        "INSERT INTO _sqlx_migrations VALUES (999, 'later', '2030-01-01', 1, x'00', 0)",
    ] {
        let place = TestFolder::sqlite();
        let store = place.store().await;
        sqlx::query(sign).execute(&store.pool).await.unwrap();
        store.close().await;
        let before = fs::read(place.folder.database_path()).unwrap();
        let error = Database::open_and_migrate(&place.database)
            .await
            .unwrap_err();
        let Error::DatabaseTooNew { found, known, .. } = error else {
            panic!("{error}")
        };
        assert_eq!((found, known), (999, 9));
        assert!(error.to_string().contains("update axioscope"), "{error}");
        assert_eq!(fs::read(place.folder.database_path()).unwrap(), before);
    }
    if let Some(place) = TestFolder::postgres() {
        place.store().await.close().await;
        place.server.as_ref().unwrap().execute(
            "INSERT INTO _sqlx_migrations VALUES (999, 'later', '2030-01-01', true, '', 0)",
        );
        let error = Database::open_and_migrate(&place.database)
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains("layout 999, this one knows 9"), "{error}");
        assert!(
            error.contains("another database by `DATABASE_URL`"),
            "{error}"
        );
    }
}

/// Released migrations must not change, since sqlx compares them with those that were applied.
#[test]
fn released_migrations_stay_as_they_are() {
    let sums = |migrator: &sqlx::migrate::Migrator| {
        let sum = |it: &sqlx::migrate::Migration| {
            format!(
                "{} {:.16}",
                it.version,
                shared::collection::encode_hex(&it.checksum)
            )
        };
        migrator.iter().map(sum).collect::<Vec<_>>()
    };
    assert_eq!(
        sums(&sqlite::MIGRATIONS),
        [
            "1 c071c82253fd3afb",
            "2 762e0309cf089e6c",
            "3 32d32cd3e9b468e6",
            "4 9d59c5e24195d282",
            "5 e4932c55415b5ac9",
            "6 0c7dc62ebeaa518e",
            "7 90dba6ef5e3cc33c",
            "8 dce99faaeb7f903c",
            "9 0ab537da4388321f"
        ]
    );
    assert_eq!(
        sums(&crate::store::postgres::MIGRATIONS),
        [
            "1 b22122618fe24e18",
            "2 762e0309cf089e6c",
            "3 60951067af38ee64",
            "4 6ddc3ca6e2139237",
            "5 3fca5364d217e5d2",
            "6 afbd0ab9f40a84ab",
            "7 587d1b1e8e8f8e0b",
            "8 6b3c2ab033e8a54a",
            "9 6014a379d20529e1"
        ]
    );
}

#[tokio::test]
async fn a_database_of_every_released_layout_is_brought_forward() {
    for place in TestFolder::each() {
        for layout in 1..=place.database.latest_schema_version() {
            let place = match place.database {
                DatabaseConfig::Sqlite(_) => TestFolder::sqlite(),
                DatabaseConfig::Postgres(_) => TestFolder::postgres().unwrap(),
            };
            let early = Database::connect(&place.database).await.unwrap();
            early.migrate(layout).await.unwrap();
            // Tables that exist in every layout.
            early.add_job_with_batches(&job(4)).await.unwrap();
            early.replace_operator_token().await.unwrap();
            early.close().await;

            let store = place.store().await;
            assert_eq!(store.job(&"0".repeat(32)).await.unwrap().n_pairs, 4);
            let certificate = store
                .job_score_stability_check(&"0".repeat(32))
                .await
                .unwrap();
            assert_eq!(certificate, None, "layout {layout}");
            assert!(store.operator_token_hash().await.unwrap().is_some());
        }
    }
}
