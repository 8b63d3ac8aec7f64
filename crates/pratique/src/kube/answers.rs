//! Remembers answers to authorization checks for a while, and not too many of them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pratique_policy::authz::{Decision, Question};

/// Answers, each with its end. The oldest give way.
#[derive(Debug, Default)]
pub(super) struct Answers {
    known: HashMap<Arc<Question>, (Decision, Instant)>,
    /// In the order of their coming.
    order: VecDeque<Arc<Question>>,
}

impl Answers {
    pub(super) fn get(&self, question: &Question, now: Instant) -> Option<Decision> {
        let (decision, end) = self.known.get(question)?;
        (now < *end).then(|| decision.clone())
    }

    pub(super) fn add(&mut self, question: Question, decision: Decision, now: Instant, time: Duration) {
        let Some(end) = now.checked_add(time).filter(|_| !time.is_zero()) else {
            return;
        };
        let question = Arc::new(question);
        if self.known.insert(question.clone(), (decision, end)).is_none() {
            self.order.push_back(question);
        }
        while self.known.len() > ROOM
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}

/// How many answers there may be.
const ROOM: usize = 8192;

#[cfg(test)]
mod tests {
    use pratique_policy::authz::{QuestionSubject, User};

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
        let mut answers = Answers::default();
        let now = Instant::now();
        answers.add(question("/a"), Decision::default(), now, Duration::from_secs(30));
        answers.add(question("/b"), Decision::default(), now, Duration::ZERO);
        assert!(answers.get(&question("/a"), now).is_some());
        assert!(answers.get(&question("/b"), now).is_none());
        assert!(
            answers
                .get(&question("/a"), now + Duration::from_secs(30))
                .is_none()
        );
    }

    #[test]
    fn the_oldest_give_way() {
        let mut answers = Answers::default();
        let now = Instant::now();
        for number in 0..ROOM + 10 {
            let question = question(&format!("/{number}"));
            answers.add(question, Decision::default(), now, Duration::from_secs(30));
        }
        assert!(answers.get(&question("/9"), now).is_none());
        assert!(answers.get(&question("/10"), now).is_some());
        assert_eq!((answers.known.len(), answers.order.len()), (ROOM, ROOM));
    }
}
