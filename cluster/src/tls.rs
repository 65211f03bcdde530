//! TLS between the processes of a cluster, with certificates on both sides of each connection.
//!
//! A certificate authority of the cluster signs the certificates of all processes, and a process
//! takes part if it has one. Addresses of machines and containers change, so that all certificates
//! have the same DNS name, [`DNS_NAME`], and no other name is verified.

use std::error::Error;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_flight::flight_service_server::FlightServiceServer;
use axioscope::distributed::ShardError;
use ballista_core::error::BallistaError;
use ballista_core::extension::{EndpointOverrideFn, SessionConfigExt};
use ballista_core::serde::protobuf::{
    GetJobStatusParams, scheduler_grpc_client::SchedulerGrpcClient,
    scheduler_grpc_server::SchedulerGrpcServer,
};
use ballista_core::utils::{
    GrpcClientConfig, GrpcServerConfig, create_grpc_client_endpoint, create_grpc_server,
    create_grpc_server_incoming,
};
use ballista_executor::ArrowFlightServerProvider;
use ballista_executor::flight_service::BallistaFlightService;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::create_scheduler;
use datafusion::prelude::SessionConfig;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use tonic::transport::{Certificate, ClientTlsConfig, Identity, Server, ServerTlsConfig};

/// The DNS name in the certificates of all processes.
const DNS_NAME: &str = "axioscope-cluster";

/// Holds the command-line arguments for TLS.
#[derive(clap::Args)]
pub(crate) struct TlsArgs {
    /// PEM file with the certificate authority of the cluster: all connections use TLS, with
    /// certificates on both sides [default: no TLS]
    #[arg(long, value_name = "FILE", env = "AXIOSCOPE_TLS_CA", requires = "tls_cert")]
    tls_ca: Option<PathBuf>,
    /// PEM file with the certificate of this process, which that authority has signed. Its DNS name
    /// is `axioscope-cluster`, whatever the address of this machine
    #[arg(long, value_name = "FILE", env = "AXIOSCOPE_TLS_CERT", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// PEM file with the private key of that certificate
    #[arg(long, value_name = "FILE", env = "AXIOSCOPE_TLS_KEY", requires = "tls_ca")]
    tls_key: Option<PathBuf>,
}

/// The certificates of a process, for the connections that it opens and accepts.
pub(crate) struct ClusterTls {
    client: ClientTlsConfig,
    server: ServerTlsConfig,
}

impl TlsArgs {
    /// Reads the files; returns `None` if there are none.
    pub(crate) fn read(&self) -> Result<Option<Arc<ClusterTls>>, ShardError> {
        let (Some(ca), Some(cert), Some(key)) = (&self.tls_ca, &self.tls_cert, &self.tls_key)
        else {
            return Ok(None);
        };
        let authority = Certificate::from_pem(read_pem(ca, "CERTIFICATE")?);
        let own = read_pem(cert, "CERTIFICATE")?;
        let identity = Identity::from_pem(own, read_pem(key, "PRIVATE KEY")?);
        let tls = ClusterTls {
            client: ClientTlsConfig::new()
                .domain_name(DNS_NAME)
                .ca_certificate(authority.clone())
                .identity(identity.clone()),
            server: ServerTlsConfig::new()
                .client_ca_root(authority)
                .identity(identity),
        };
        let checked = Server::builder().tls_config(tls.server.clone());
        checked.map_err(|error| {
            let (ca, cert, key) = (ca.display(), cert.display(), key.display());
            let reason = root_cause(&error);
            ShardError::permanent(format!("certificates {ca}, {cert}, {key}: {reason}"))
        })?;
        Ok(Some(Arc::new(tls)))
    }
}

fn read_pem(file: &Path, content: &str) -> Result<String, ShardError> {
    let refuse = |reason: &dyn std::fmt::Display| {
        ShardError::permanent(format!("{}: {reason}", file.display()))
    };
    let text = std::fs::read_to_string(file).map_err(|error| refuse(&error))?;
    if !text.contains(&format!("{content}-----")) {
        return Err(refuse(&format!("no {content} in PEM format")));
    }
    Ok(text)
}

impl ClusterTls {
    /// Returns what makes Ballista open TLS connections.
    pub(crate) fn endpoint_override(&self) -> EndpointOverrideFn {
        let tls = self.client.clone();
        Arc::new(move |mut endpoint| {
            // Ballista writes http:// for all but Flight services.
            if endpoint.uri().scheme_str() != Some("https") {
                let address = endpoint.uri().authority().ok_or("there is no address")?;
                let settings = GrpcClientConfig::default();
                endpoint =
                    create_grpc_client_endpoint(format!("https://{address}"), Some(&settings))?;
            }
            Ok(endpoint.tls_config(tls.clone())?)
        })
    }

    /// Returns the configuration of a session in which all connections use TLS.
    pub(crate) fn session_config(&self) -> SessionConfig {
        SessionConfig::new_with_ballista()
            .with_ballista_use_tls(true)
            .with_ballista_override_create_grpc_client_endpoint(self.endpoint_override())
    }

    /// Returns the Flight service of an executor, as Ballista has it, with TLS.
    pub(crate) fn flight_service(&self) -> Arc<ArrowFlightServerProvider> {
        let tls = self.server.clone();
        Arc::new(move |work_dir, address, mut shutdown, config| {
            let server = create_grpc_server(&config).tls_config(tls.clone());
            tokio::spawn(async move {
                let service = FlightServiceServer::new(BallistaFlightService::new(work_dir));
                let server = server?.add_service(service);
                let served = server.serve_with_shutdown(address, shutdown.recv());
                Ok(served.await?)
            })
        })
    }

    /// Serves a scheduler, as Ballista's `start_server` does, with TLS.
    pub(crate) async fn start_scheduler(
        &self,
        cluster: BallistaCluster,
        listen: SocketAddr,
        config: Arc<SchedulerConfig>,
    ) -> Result<(), BallistaError> {
        config.validate()?;
        let n_bytes = config.grpc_server_max_decoding_message_size as usize;
        let incoming = create_grpc_server_incoming(listen, &GrpcServerConfig::default())?;
        let scheduler = create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, config);
        let service = SchedulerGrpcServer::new(scheduler.await?);
        let service = service.max_decoding_message_size(n_bytes);
        let mut server = Server::builder().tls_config(self.server.clone())?;
        let served = server.add_service(service).serve_with_incoming(incoming);
        Ok(served.await?)
    }
}

/// Asks a scheduler for a response. Returns an error, which says why, if there is none: Ballista
/// does not notice that a scheduler expects TLS, and hides why a certificate is refused.
pub(crate) async fn ensure_scheduler_responds(
    address: &str,
    tls: Option<&ClusterTls>,
) -> Result<(), String> {
    let responded = async {
        let settings = GrpcClientConfig::default();
        let mut endpoint =
            create_grpc_client_endpoint(format!("http://{address}"), Some(&settings))?;
        if let Some(tls) = tls {
            endpoint = tls.endpoint_override()(endpoint)?;
        }
        let mut scheduler = SchedulerGrpcClient::new(endpoint.connect().await?);
        let no_job = GetJobStatusParams::default();
        scheduler.get_job_status(no_job).await?;
        Ok::<_, Box<dyn Error + Send + Sync>>(())
    };
    responded.await.map_err(|error| {
        let reason = root_cause(error.as_ref());
        let io = reason.downcast_ref::<std::io::Error>().map(|it| it.kind());
        let kind = match tls {
            _ if io == Some(std::io::ErrorKind::ConnectionRefused) => "",
            Some(_) => " over TLS (see --tls-ca and --tls-cert)",
            None => " without TLS (see --tls-ca)",
        };
        format!("scheduler {address} does not respond{kind}: {reason}")
    })
}

/// Returns the last of the sources of an error; those before it only say "transport error".
fn root_cause<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    std::iter::successors(Some(error), |&it| it.source())
        .last()
        .unwrap_or(error)
}
