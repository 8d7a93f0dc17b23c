//! The wrapper as a `Service`, around a service that is not a `ServerHandler`.

use std::borrow::Cow;

use request_state_core::{Reply, RequestStateCodec, Round};
use rmcp::model::{ClientNotification, ClientRequest, ProtocolVersion, ServerConfig, ServerResult};
use rmcp::service::{NotificationContext, RequestContext, Service};
use rmcp::{ErrorData, RoleServer};

use crate::answer::instead;
use crate::sealed_service::SealedService;

/// A wrapper for an rmcp service that is not a `ServerHandler`, to pass it to
/// [`SealedService::new`](crate::SealedService::new).
///
/// rmcp's `StreamableHttpService` accepts neither such a service nor its wrapper, because it
/// requires a `ServerHandler`.
///
/// Wrap the router, not the handler inside it. A router serves its own routes, and a wrapper inside
/// it neither opens nor seals the requests of those routes.
///
/// # Example
///
/// ```
/// # use request_state::{DefaultCodec, Keyring, Sealer};
/// use request_state_rmcp::{AnyService, SealedService};
/// use rmcp::handler::server::router::Router;
///
/// # #[derive(Clone)]
/// # struct Bank;
/// # impl rmcp::ServerHandler for Bank {}
/// # let sealer = Sealer::new("bank", DefaultCodec::new(&Keyring::ephemeral()?))?;
/// let router = Router::new(Bank);
/// let server = SealedService::new(AnyService(router), sealer);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct AnyService<S>(
    /// The wrapped service.
    pub S,
);

impl<S, C> Service<RoleServer> for SealedService<AnyService<S>, C>
where
    S: Service<RoleServer>,
    C: RequestStateCodec + 'static,
{
    async fn handle_request(
        &self,
        mut request: ClientRequest,
        mut context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let round = match self.open(&mut request, &mut context).await {
            Ok(round) => round,
            Err(reply) => return instead(reply),
        };
        let answer = match self.inner.0.handle_request(request, context).await {
            // The method may also be one that must not ask questions. In that case this is an
            // error.
            Ok(ServerResult::InputRequiredResult(result)) => {
                let sealed = self.gate.seal(&round, result);
                sealed.map(ServerResult::InputRequiredResult)
            }
            Ok(ServerResult::CustomResult(result)) => {
                let sealed = self.gate.seal_custom(&round, result);
                sealed.map(ServerResult::CustomResult)
            }
            other => other,
        };
        self.gate.keep(&round, &answer).await;
        answer
    }

    async fn handle_notification(
        &self,
        mut notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if let ClientNotification::CustomNotification(notification) = &mut notification {
            self.gate.strip(notification);
        }
        self.inner
            .0
            .handle_notification(notification, context)
            .await
    }

    fn get_info(&self) -> ServerConfig {
        self.inner.0.get_info()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.inner.0.supported_protocol_versions()
    }
}

impl<S, C: RequestStateCodec> SealedService<AnyService<S>, C> {
    /// Opens the state of a request that may carry one.
    async fn open(
        &self,
        request: &mut ClientRequest,
        context: &mut RequestContext<RoleServer>,
    ) -> Result<Round, Reply> {
        let method = request.method().to_owned();
        match request {
            ClientRequest::CallToolRequest(request) => {
                self.gate.open(&method, &mut request.params, context).await
            }
            ClientRequest::GetPromptRequest(request) => {
                self.gate.open(&method, &mut request.params, context).await
            }
            ClientRequest::ReadResourceRequest(request) => {
                self.gate.open(&method, &mut request.params, context).await
            }
            ClientRequest::CustomRequest(request) => self.gate.open_custom(request, context).await,
            _ => Ok(Round::uncovered()),
        }
    }
}
