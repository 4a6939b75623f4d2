//! A server with what there is before somebody asks for something that cannot be.

use headroom_core::{AddNode, Command, Name};
use headroom_server::native;

use crate::example::Example;
use crate::sent::Sent;
use crate::support::{Exchange, Options, Server, amounts};

pub(crate) const TENANTS: &str = "/headroom/v1/tenants";

/// A partition with tenants, and a queue where some may be limits: there `ann` has one already.
pub(crate) const FILE: &str = "
partitions:
  - name: default
    tenants: {enabled: true}
    queues:
      - name: root
        submitacl: '*'
        queues:
          - name: shared
            limits: [{limit: ann, users: [ann], maxresources: {vcore: 4}}]
";

pub(crate) struct Scene(pub(crate) Server);

impl Scene {
    /// With this queue file and a node of 16 cores.
    pub(crate) async fn of(file: &str) -> Self {
        let modules: Vec<headroom_server::mount::Handlers> = vec![native::handler];
        let queues = Some(file.to_owned());
        let server = Server::with(Options { queues, modules, ..Options::default() }).await;
        let node = AddNode {
            partition: Name::new("default"),
            node: Name::new("n1"),
            capacity: amounts([("vcore", 16_000)]),
            schedulable: true,
            ..AddNode::default()
        };
        server.accept(Command::AddNode(node)).await;
        Self(server)
    }

    /// With these tenants, each as it is sent.
    pub(crate) async fn with(tenants: &[&str]) -> Self {
        let scene = Self::of(FILE).await;
        for tenant in tenants {
            scene.does(Sent::post(TENANTS).json(tenant)).await;
        }
        scene
    }

    /// Have something happen that may; the answer.
    pub(crate) async fn does(&self, sent: Sent) -> Exchange {
        let answer = sent.to(self.0.address).await;
        assert!((200..300).contains(&answer.status), "{}: {}", sent.told(""), answer.text());
        self.0.turn(0).await;
        answer
    }

    pub(crate) async fn tag(&self, path: &str) -> String {
        let path = path.split('?').next().unwrap();
        let read = self.does(Sent::get(path)).await;
        read.header("etag").unwrap().to_owned()
    }

    /// Submit a task of so many cores, and let it start if it may.
    pub(crate) async fn task(&self, tenant: &str, id: &str, vcores: u32) {
        let body = format!(r#"{{"id": "{id}", "resources": {{"vcore": "{vcores}"}}}}"#);
        self.does(Sent::post(&format!("{TENANTS}/{tenant}/tasks")).json(&body)).await;
    }

    /// The example of a code: what is answered to this.
    pub(crate) async fn refuses(&self, code: &str, before: &str, sent: Sent) -> Example {
        sent.shows(code, before, self.0.address).await
    }
}
