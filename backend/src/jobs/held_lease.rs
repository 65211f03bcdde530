//! Leases that this process holds.

use std::time::Duration;

use tokio::task::JoinHandle;

use crate::jobs::JobQueue;
use crate::store::jobs::leases::WorkLease;

/// Time after which a lease is renewed, while the work is under way.
const RENEWAL: Duration = Duration::from_secs(3);

/// A lease that is renewed until this is dropped, and then ended, so that the work can be done at
/// once if it was not.
pub(super) struct HeldLease {
    jobs: JobQueue,
    id: String,
    pub(super) lease: WorkLease,
    renewal: JoinHandle<()>,
}

impl HeldLease {
    pub(super) fn keep(jobs: &JobQueue, id: &str, lease: WorkLease) -> HeldLease {
        let (store, job) = (jobs.store.clone(), id.to_owned());
        let renewal = tokio::spawn(async move {
            loop {
                tokio::time::sleep(RENEWAL).await;
                // Without a database the lease ends, and so does the right to commit the work.
                if let Err(error) = store.renew_lease(&job, lease).await {
                    tracing::warn!("job {job}: renewing a lease: {error}");
                }
            }
        });
        HeldLease {
            jobs: jobs.clone(),
            id: id.to_owned(),
            lease,
            renewal,
        }
    }
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        self.renewal.abort();
        let (jobs, id, lease) = (self.jobs.clone(), std::mem::take(&mut self.id), self.lease);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                // If this fails, the lease ends by itself.
                let _ = jobs.store.end_lease(&id, lease).await;
            });
        }
    }
}
