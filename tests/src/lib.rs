//! What the end-to-end tests share with the tests beside the backend's code: databases of their
//! own. The end-to-end tests are in `main.rs`.

pub mod postgres;
