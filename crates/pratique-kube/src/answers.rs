//! A cache of answers to authorization checks, bounded in time, number and bytes.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pratique::authorization::{AuthorizerDecision, Question, QuestionSubject};

/// Answers, each with its expiry. The oldest are evicted first.
#[derive(Debug, Default)]
pub(super) struct AnswerCache {
    answers: HashMap<Arc<Question>, CachedAnswer>,
    /// The questions in the order in which they were added.
    order: VecDeque<Arc<Question>>,
    /// The bytes of all entries.
    bytes: usize,
}

#[derive(Debug)]
struct CachedAnswer {
    decision: AuthorizerDecision,
    end: Instant,
    bytes: usize,
}

impl AnswerCache {
    pub(super) fn get(&self, question: &Question, now: Instant) -> Option<AuthorizerDecision> {
        let answer = self.answers.get(question)?;
        (now < answer.end).then(|| answer.decision.clone())
    }

    pub(super) fn add(
        &mut self,
        question: Question,
        decision: AuthorizerDecision,
        now: Instant,
        time: Duration,
    ) {
        let Some(end) = now.checked_add(time).filter(|_| !time.is_zero()) else {
            return;
        };
        let bytes = size(&question, &decision);
        if bytes > MOST_BYTES {
            return;
        }
        let (question, answer) = (Arc::new(question), CachedAnswer { decision, end, bytes });
        self.bytes += bytes;
        match self.answers.insert(question.clone(), answer) {
            Some(old_answer) => self.bytes -= old_answer.bytes,
            None => self.order.push_back(question),
        }
        while (self.answers.len() > ROOM || self.bytes > MOST_BYTES)
            && let Some(oldest) = self.order.pop_front()
        {
            self.bytes -= self.answers.remove(&oldest).map_or(0, |answer| answer.bytes);
        }
    }
}

/// The maximum number of answers.
const ROOM: usize = 8192;

/// The maximum bytes of all answers: users have groups, and extra fields from their tokens.
const MOST_BYTES: usize = 32 << 20;

/// The approximate bytes of an answer besides its strings.
const EACH: usize = size_of::<Question>() + size_of::<CachedAnswer>() + 2 * size_of::<Arc<Question>>();

/// The bytes of the strings of a subject.
pub(super) fn subject_size(subject: &QuestionSubject) -> usize {
    let resource = match subject {
        QuestionSubject::Path(path) => return path.len(),
        QuestionSubject::Resource(resource) => resource,
    };
    let parts = [
        &resource.group,
        &resource.resource,
        &resource.subresource,
        &resource.namespace,
        &resource.name,
        &resource.field_selector,
        &resource.label_selector,
    ];
    parts.into_iter().map(String::len).sum()
}

/// The approximate bytes of an answer.
fn size(question: &Question, decision: &AuthorizerDecision) -> usize {
    let Question { user, verb, subject } = question;
    let text = |text: &String| size_of::<String>() + text.len();
    let texts = |all: &[String]| all.iter().map(text).sum::<usize>();
    let extra = user.extra.iter().map(|(key, values)| text(key) + texts(values));
    let error = decision.error.as_ref().map_or(0, String::len);
    let user = user.name.len() + user.uid.len() + texts(&user.groups) + extra.sum::<usize>();
    EACH + user + verb.len() + subject_size(subject) + decision.reason.len() + error
}

#[cfg(test)]
mod tests {
    use pratique::authorization::User;

    use super::*;

    fn question(path: &str) -> Question {
        Question {
            user: User::default(),
            verb: "get".to_owned(),
            subject: QuestionSubject::Path(path.to_owned()),
        }
    }

    #[test]
    fn answers_end() {
        let mut answers = AnswerCache::default();
        let now = Instant::now();
        answers.add(
            question("/a"),
            AuthorizerDecision::default(),
            now,
            Duration::from_secs(30),
        );
        answers.add(question("/b"), AuthorizerDecision::default(), now, Duration::ZERO);
        assert!(answers.get(&question("/a"), now).is_some());
        assert!(answers.get(&question("/b"), now).is_none());
        assert!(
            answers
                .get(&question("/a"), now + Duration::from_secs(30))
                .is_none()
        );
    }

    #[test]
    fn large_ones_give_way_earlier() {
        let mut answers = AnswerCache::default();
        let (now, time) = (Instant::now(), Duration::from_secs(30));
        let large = |name: usize, length: usize| {
            let extra = [("scopes".to_owned(), vec!["x".repeat(length)])].into();
            let user = User {
                name: name.to_string(),
                extra,
                ..User::default()
            };
            Question {
                user,
                ..question("/")
            }
        };
        for name in 0..100 {
            let reason = "r".repeat(1 << 19);
            let decision = AuthorizerDecision {
                reason,
                ..AuthorizerDecision::default()
            };
            answers.add(large(name, 1 << 19), decision, now, time);
            assert!(answers.bytes <= MOST_BYTES);
        }
        assert_eq!((answers.answers.len(), answers.order.len()), (31, 31));
        assert!(answers.get(&large(99, 1 << 19), now).is_some());
        // The same again takes no more.
        let before = answers.bytes;
        let decision = answers.get(&large(99, 1 << 19), now).unwrap_or_default();
        answers.add(large(99, 1 << 19), decision, now, time);
        assert_eq!(answers.bytes, before);
        // An answer larger than the cache is not kept, and evicts nothing.
        answers.add(large(0, MOST_BYTES), AuthorizerDecision::default(), now, time);
        assert_eq!((answers.answers.len(), answers.bytes), (31, before));
        for number in 0..ROOM {
            answers.add(
                question(&format!("/{number}")),
                AuthorizerDecision::default(),
                now,
                time,
            );
        }
        assert!(
            answers.bytes < ROOM * 2 * EACH,
            "nothing is left of those that went"
        );
    }

    #[test]
    fn the_oldest_give_way() {
        let mut answers = AnswerCache::default();
        let now = Instant::now();
        for number in 0..ROOM + 10 {
            let question = question(&format!("/{number}"));
            answers.add(
                question,
                AuthorizerDecision::default(),
                now,
                Duration::from_secs(30),
            );
        }
        assert!(answers.get(&question("/9"), now).is_none());
        assert!(answers.get(&question("/10"), now).is_some());
        assert_eq!((answers.answers.len(), answers.order.len()), (ROOM, ROOM));
    }
}
