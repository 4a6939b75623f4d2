//! The example of a page: the request, and the output of the program.

use std::fs;
use std::path::{Path, PathBuf};

use headroom_api::headroomv1::Problem;
use headroom_core::{RefusalCode, Rejection};
use serde::Serialize;

/// How a page begins its example, which is its last part.
const BEGINS: &str = "**Example.** ";

/// The request that causes a code, and the output.
#[derive(Debug)]
pub(crate) struct Example {
    pub(crate) code: String,
    asked: String,
    /// In a fence: its language, and what is in it.
    said: (&'static str, String),
}

/// A problem, without what is another each time.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    title: &'a str,
    status: u16,
    code: &'a str,
    detail: &'a str,
}

impl Example {
    /// A problem that was answered to a request.
    pub(crate) fn problem(code: &str, asked: String, (status, body): (u16, &[u8])) -> Self {
        let problem: Problem = serde_json::from_slice(body).unwrap_or_else(|why| {
            panic!("{asked}: {status} is no problem, {why}: {}", String::from_utf8_lossy(body))
        });
        assert_eq!(problem.code, code, "{asked}: {}", problem.detail);
        assert_eq!(problem.kind, format!("urn:headroom:problem:{code}"), "{asked}");
        assert_eq!(problem.status, status, "{asked}");
        let Problem { kind, title, detail, .. } = &problem;
        let shown = Shown { kind, title, status, code, detail };
        let said = ("json", serde_json::to_string_pretty(&shown).unwrap());
        Self { code: code.to_owned(), asked, said }
    }

    /// A command that was refused.
    pub(crate) fn refusal(code: RefusalCode, asked: &str, rejection: &Rejection) -> Self {
        Self::sentence(code.as_str(), asked, (rejection.code().as_str(), &rejection.to_string()))
    }

    /// A code and a sentence.
    pub(crate) fn sentence(code: &str, asked: &str, (found, sentence): (&str, &str)) -> Self {
        assert_eq!(found, code, "{asked}: {sentence}");
        let said = ("text", format!("{code}: {sentence}"));
        Self { code: code.to_owned(), asked: asked.to_owned(), said }
    }

    /// What a check of a queue file says of it.
    pub(crate) fn diagnosis(code: &str, asked: String, said: &str) -> Self {
        assert!(said.contains(code), "{asked}: {said}");
        let said = ("text", said.trim_end().to_owned());
        Self { code: code.to_owned(), asked, said }
    }

    /// Why its page does not have it, if it does not; where expectations are updated the page has it then.
    pub(crate) fn stale(&self) -> Option<String> {
        let page = self.page();
        let text = fs::read_to_string(&page).unwrap_or_default();
        let before = text.split(BEGINS).next().unwrap_or_default();
        let (language, said) = &self.said;
        let example = format!("{BEGINS}{}\n\n```{language}\n{said}\n```\n", self.asked);
        let expected = format!("{}\n\n{example}", before.trim_end());
        if text == expected {
            return None;
        }
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            assert!(text.starts_with(&format!("# {}\n", self.code)), "{} is there", page.display());
            fs::write(&page, expected).unwrap();
            return None;
        }
        Some(format!("docs/errors/{}.md should end with\n{example}", self.code))
    }

    fn page(&self) -> PathBuf {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors"));
        folder.join(format!("{}.md", self.code))
    }
}
