//! A live run as a report shows it: the same document as that of a recorded one, from tables in memory.

use super::run::{columns, series};
use super::series::Gathered;
use fabric::record::Rows;
use results::Batch;
use scenario::Plan;
use serde_json::{Map, Value, json};
use study::LiveResult;
use units::Span;

/// Rows of a table that are kept; beyond it, samples are merged over time.
const MOST_ROWS: usize = 200_000;

/// The tables of a live run that grow with simulated time.
#[derive(Clone, Debug)]
pub struct LiveTables {
    all: Vec<Gathered>,
}

/// The document of a live run: what the blocks of a report say of a recorded one.
#[derive(Debug)]
pub struct LiveRecord {
    /// All but the columns of its tables. A table tells the place of its columns in `bytes` by `from` and `to`.
    pub document: Value,
    /// The packed columns of all tables.
    pub bytes: Vec<u8>,
}

impl LiveTables {
    /// The tables of a run that has not begun.
    #[must_use]
    pub fn new(plan: &Plan) -> LiveTables {
        let picos = |span: Span| i64::try_from(span.as_picos()).unwrap_or(i64::MAX);
        let (sample, end) = (picos(plan.probes.sample_every), picos(plan.run.duration));
        LiveTables { all: series().into_iter().map(|wish| Gathered::new(wish, 0, sample, end)).collect() }
    }

    fn add(&mut self, batch: &Batch) {
        if let Some(table) = self.all.iter_mut().find(|table| table.name() == batch.table.name) {
            table.count(batch.len());
            table.take(batch, MOST_ROWS);
        }
    }

    /// Takes rows as they are recorded.
    pub fn take(&mut self, rows: &Rows) {
        Batch::all(rows).iter().for_each(|batch| self.add(batch));
    }

    /// Returns the document of the run, as far as it has come.
    #[must_use]
    pub fn record(mut self, result: &LiveResult) -> LiveRecord {
        self.take(&result.rows);
        self.add(&result.fair_shares);
        let (mut tables, mut bytes) = (Map::new(), Vec::new());
        for table in &mut self.all {
            table.close();
            let (columns, mut about) = table.columns();
            about["from"] = json!(bytes.len());
            bytes.extend(columns);
            about["to"] = json!(bytes.len());
            tables.insert(table.name().to_owned(), about);
        }
        let document = json!({
            "manifest": result.manifest.to_json(),
            "expectations": (!result.judgements.is_empty()).then_some(&result.judgements),
            "flows": columns(&result.flows),
            "waits": columns(&result.waits),
            "wait_buckets": columns(&result.wait_buckets),
            "delays": columns(&result.delays),
            "queue_levels": columns(&result.queue_levels),
            "collective_ranks": columns(&result.collective_ranks),
            "requests": columns(&result.requests),
            "network": result.network,
            "ports": columns(&result.ports),
            "tables": tables,
            "drawn": {},
            "left_out": [],
        });
        LiveRecord { document, bytes }
    }
}
