//! Settings of the file that may turn a refusal into an approval: told wherever the file is used.

use clap::Arg;
use pratique_manifest::Location;
use serde::Serialize;

use super::setting::{CommandSetting, SettingValue};
use super::trust::WeakeningValues;

/// A setting that may turn a refusal into an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct WeakenedSetting {
    #[serde(skip)]
    pub(crate) command: &'static str,
    /// The field, with its section if it is in one.
    pub(crate) field: String,
    pub(crate) value: Vec<String>,
    /// What counts where nothing is set.
    pub(crate) default: Vec<String>,
    pub(crate) message: String,
    pub(crate) location: Location,
}

impl WeakenedSetting {
    /// The setting of an argument, if its value weakens what is decided by default.
    pub(super) fn find(setting: &CommandSetting, argument: &Arg, weakening: WeakeningValues) -> Option<Self> {
        let default = default_values(argument);
        let value = match &setting.values {
            SettingValue::Switch(false) => return None,
            SettingValue::Switch(true) => vec!["true".to_owned()],
            SettingValue::Values(values) => values.clone(),
        };
        // What the file has in itself, such as its exceptions, has the file for its value.
        let is_inline = value.iter().eq([&*setting.location.file]);
        let why = match weakening {
            WeakeningValues::AnyChange if is_inline => "is set".to_owned(),
            WeakeningValues::AnyChange => (value != default).then(|| format!("is {}", listed(&value)))?,
            WeakeningValues::FewerThanDefault => {
                let lacking: Vec<String> = default
                    .iter()
                    .filter(|what| !value.contains(what))
                    .cloned()
                    .collect();
                (!lacking.is_empty()).then(|| format!("leaves out {}", listed(&lacking)))?
            }
            WeakeningValues::MoreThanDefault => {
                is_more(&value, &default).then(|| format!("is {}", listed(&value)))?
            }
            WeakeningValues::Values(values) => value
                .iter()
                .any(|value| values.contains(&value.as_str()))
                .then(|| format!("is {}", listed(&value)))?,
        };
        let usual = if default.is_empty() {
            "not set".to_owned()
        } else {
            listed(&default)
        };
        Some(WeakenedSetting {
            command: setting.command,
            field: setting.field.clone(),
            message: format!(
                "`{}` {why}, by which what is refused otherwise may pass; by default it is {usual}",
                setting.field
            ),
            value,
            default,
            location: setting.location.clone(),
        })
    }
}

/// The default values of an argument, as the file would list them.
fn default_values(argument: &Arg) -> Vec<String> {
    let values = argument
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy());
    let is_empty = |value: &String| value.is_empty();
    let split = values.flat_map(|value| match argument.get_value_delimiter() {
        Some(delimiter) => value.split(delimiter).map(str::to_owned).collect::<Vec<_>>(),
        None => vec![value.into_owned()],
    });
    let is_switch = argument.get_action().takes_values();
    if is_switch {
        split.filter(|value| !is_empty(value)).collect()
    } else {
        Vec::new()
    }
}

/// Whether a number is above another, or no number.
fn is_more(value: &[String], default: &[String]) -> bool {
    let number = |values: &[String]| values.first().and_then(|value| value.parse::<f64>().ok());
    match (number(value), number(default)) {
        (Some(value), default) => value > default.unwrap_or_default(),
        (None, _) => true,
    }
}

fn listed(values: &[String]) -> String {
    values.join(", ")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use pratique_manifest::{Location, Position};

    use super::super::shape::field_name;
    use super::super::trust::{TrustClass, class_of};
    use super::*;
    use crate::arguments::ProgramArguments;

    /// Whether a value of a field is told, and the message.
    fn told(command: &'static str, field: &str, values: SettingValue) -> Option<String> {
        let all = ProgramArguments::command();
        let section = all.find_subcommand(command).unwrap();
        let argument = section
            .get_arguments()
            .find(|argument| field_name(argument) == field)
            .unwrap();
        let Some(TrustClass::Decides(weakening)) = class_of(command, field) else {
            panic!("{command}.{field} decides nothing");
        };
        let setting = CommandSetting {
            command,
            argument: argument.get_id().to_string(),
            field: format!("{command}.{field}"),
            flag: String::new(),
            is_positional: false,
            is_path: false,
            values,
            location: Location {
                file: "pratique.yaml".into(),
                document: 0,
                start: Position::default(),
                end: Position::default(),
            },
        };
        WeakenedSetting::find(&setting, argument, weakening).map(|weakened| weakened.message)
    }

    #[track_caller]
    fn check(command: &'static str, field: &str, value: &str, expected: bool) {
        let values = SettingValue::Values(value.split(',').map(str::to_owned).collect());
        assert_eq!(
            told(command, field, values).is_some(),
            expected,
            "{command}.{field}: {value}"
        );
    }

    #[test]
    fn what_weakens_is_compared_with_the_default() {
        check("review", "failOn", "warn", true);
        check("review", "failOn", "deny", true);
        check("review", "failOn", "undecided,deny,error", false);
        check("review", "failOn", "deny,warn,error,undecided", false);
        check("replay", "failOn", "allowed,error,undecided", true);
        check("impact", "maxNewRefusals", "0", false);
        check("impact", "maxNewRefusals", "5", true);
        check("review", "fieldValidation", "Ignore", true);
        check("review", "fieldValidation", "Strict", false);
        check("review", "defaults", "off", true);
        check("review", "defaults", "false", true);
        check("review", "defaults", "on", false);
        check("scan", "validation", "off", true);
        check("scan", "validation", "on", false);
        check("review", "operation", "DELETE", true);
        check("review", "namespace", "default", false);
        check("review", "namespace", "kube-system", true);
        check("review", "as", "admin", true);
        check("check", "allow", "warnings", true);
        check("check", "warn", "unguarded-field", true);
        check("test", "warn", "warnings", true);
        check("test", "filter", "easy", true);
    }

    #[test]
    fn switches_count_where_they_are_on() {
        assert!(told("review", "bind", SettingValue::Switch(false)).is_none());
        let message = told("review", "bind", SettingValue::Switch(true)).unwrap();
        assert_eq!(
            message,
            "`review.bind` is true, by which what is refused otherwise may pass; by default it is not set"
        );
    }

    #[test]
    fn what_is_left_out_is_named() {
        let message = told("review", "failOn", SettingValue::Values(vec!["warn".to_owned()])).unwrap();
        assert!(
            message.starts_with("`review.failOn` leaves out deny, error, undecided,"),
            "{message}"
        );
    }
}
