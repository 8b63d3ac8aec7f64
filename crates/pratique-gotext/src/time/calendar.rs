//! The Gregorian calendar, for any year: days to dates and back.

/// Seconds in a day.
pub(super) const DAY: i64 = 86_400;

/// A date and a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CivilTime {
    pub(super) year: i64,
    /// 1 to 12.
    pub(super) month: i64,
    /// 1 to 31.
    pub(super) day: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
}

/// Days from 1970-01-01 to a date. Months before March count as the end of the year before, so that the
/// leap day is the last day of its year.
pub(super) fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The date and time of day some seconds after 1970-01-01T00:00:00.
pub(super) fn civil_from_seconds(seconds: i64) -> CivilTime {
    let days = seconds.div_euclid(DAY) + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let time = seconds.rem_euclid(DAY);
    CivilTime {
        year: year_of_era + era * 400 + i64::from(month <= 2),
        month,
        day: day_of_year - (153 * shifted_month + 2) / 5 + 1,
        hour: time / 3_600,
        minute: time / 60 % 60,
        second: time % 60,
    }
}

/// The number of days of a month.
pub(crate) fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_back() {
        let check = |date: (i64, i64, i64), days| {
            assert_eq!(days_from_civil(date.0, date.1, date.2), days, "{date:?}");
            let civil = civil_from_seconds(days * DAY + 3_661);
            assert_eq!((civil.year, civil.month, civil.day), date);
            assert_eq!((civil.hour, civil.minute, civil.second), (1, 1, 1));
        };
        check((1970, 1, 1), 0);
        check((1969, 12, 31), -1);
        check((2000, 2, 29), 11_016);
        check((1900, 3, 1), -25_508);
        check((1, 1, 1), -719_162);
        check((0, 12, 31), -719_163);
        check((-1, 2, 28), -719_835);
        check((9999, 12, 31), 2_932_896);
        check((10_292, 7, 4), 3_039_733);
    }

    #[test]
    fn every_day_of_eight_centuries() {
        let mut days = days_from_civil(1600, 1, 1);
        for year in 1600..2400 {
            for month in 1..=12 {
                for day in 1..=days_in_month(year, month) {
                    let civil = civil_from_seconds(days * DAY);
                    assert_eq!((civil.year, civil.month, civil.day), (year, month, day));
                    days += 1;
                }
            }
        }
    }
}
