//! The results of the runs, as a table and a list of failures.

use crate::proxy::Counts;
use crate::suite::{SCENARIOS, TAMPERED, UNASKED};
use crate::{Setting, UNSEALED};

/// The results of one setting.
pub struct Column {
    setting: Setting,
    /// For each scenario, the number of checks or a description of the failure.
    cells: Vec<Result<usize, String>>,
    /// The traffic through the proxy, if there was one.
    traffic: Option<Traffic>,
}

/// The traffic through a proxy.
pub struct Traffic {
    text: String,
    /// Whether both servers received requests, and every state returned to the server that had not
    /// issued it.
    good: bool,
}

impl Traffic {
    pub fn of(counts: &Counts) -> Self {
        Self {
            text: format!(
                "requests {:?}, states back at the other process {}, at the same {}",
                counts.requests, counts.crossed, counts.stayed
            ),
            good: !counts.requests.contains(&0) && counts.crossed > 0 && counts.stayed == 0,
        }
    }
}

impl Column {
    pub fn new(
        setting: Setting,
        cells: Vec<Result<usize, String>>,
        traffic: Option<Traffic>,
    ) -> Self {
        Self {
            setting,
            cells,
            traffic,
        }
    }

    /// Returns all failures, one line each.
    pub fn wrong(&self) -> Vec<String> {
        let name = self.setting.name();
        let mut lines = Vec::new();
        for (scenario, cell) in SCENARIOS.iter().zip(&self.cells) {
            if let Err(error) = cell {
                lines.push(format!("{name}, {scenario}: {error}"));
            }
        }
        if self.cells.len() != SCENARIOS.len() {
            lines.push(format!("{name}: {} scenarios ran", self.cells.len()));
        }
        if let Some(traffic) = self.traffic.as_ref().filter(|traffic| !traffic.good) {
            lines.push(format!("{name}, proxy: {}", traffic.text));
        }
        lines
    }

    fn cell(&self, row: usize) -> String {
        match self.cells.get(row) {
            Some(Ok(_)) if self.setting.server == UNSEALED && SCENARIOS[row] == TAMPERED => {
                "falls".into()
            }
            Some(Ok(_)) if self.setting.removes_answers() && SCENARIOS[row] == UNASKED => {
                "asks".into()
            }
            Some(Ok(checks)) => checks.to_string(),
            _ => "FAILED".into(),
        }
    }
}

/// Returns a table with a row for each scenario and a column for each setting. Each cell has the
/// number of checks, all of them passed.
pub fn table(columns: &[Column]) -> String {
    let line = |head: &str, cell: &dyn Fn(&Column) -> String| {
        let cells = columns.iter().map(|column| format!("{:>14}", cell(column)));
        format!("{head:24}{}\n", cells.collect::<String>())
    };
    let mut text = line("", &|column| {
        let backend = column.setting.backend();
        backend.trim_end_matches("-poly1305").into()
    });
    text += &line("checks passed", &|column| column.setting.how().into());
    for (row, scenario) in SCENARIOS.iter().enumerate() {
        text += &line(scenario, &|column| column.cell(row));
    }
    for column in columns {
        if let Some(traffic) = &column.traffic {
            text += &format!("{}: {}\n", column.setting.name(), traffic.text);
        }
    }
    text + "falls: accepts a changed state, as a server without protection must\n\
            asks: does not take an answer that nobody asked for, which the suite warns of\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traffic(requests: [u64; 2], crossed: u64, stayed: u64) -> Traffic {
        let mut counts = Counts::default();
        counts.requests = requests.to_vec();
        counts.crossed = crossed;
        counts.stayed = stayed;
        Traffic::of(&counts)
    }

    fn wrong(cells: Vec<Result<usize, String>>, traffic: Traffic) -> Vec<String> {
        Column::new(Setting::of("ring").proxied(), cells, Some(traffic)).wrong()
    }

    #[test]
    fn nothing_wrong_goes_unsaid() {
        let good = || vec![Ok(2); SCENARIOS.len()];
        assert!(wrong(good(), traffic([3, 2], 2, 0)).is_empty());

        let mut failed = good();
        failed[1] = Err("why".into());
        assert_eq!(
            wrong(failed, traffic([3, 2], 2, 0)),
            ["ring-proxied, basic-sampling: why"]
        );
        assert_eq!(wrong(vec![Ok(2)], traffic([3, 2], 2, 0)).len(), 1);
        for bad in [
            traffic([3, 0], 2, 0),
            traffic([3, 2], 0, 0),
            traffic([3, 2], 2, 1),
        ] {
            assert_eq!(wrong(good(), bad).len(), 1);
        }
    }
}
