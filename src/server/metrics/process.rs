//! How the process is, under the names that Prometheus' own clients use.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

/// Asks the system each time; tells nothing where the system does not tell.
#[derive(Debug)]
pub(super) struct Process;

impl Collector for Process {
    #[cfg(not(target_os = "linux"))]
    fn encode(&self, _: DescriptorEncoder<'_>) -> fmt::Result {
        Ok(())
    }

    #[cfg(target_os = "linux")]
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        use prometheus_client::encoding::EncodeMetric;
        use prometheus_client::metrics::counter::ConstCounter;
        use prometheus_client::metrics::gauge::ConstGauge;
        use prometheus_client::registry::Metric;

        let Ok(process) = procfs::process::Process::myself() else { return Ok(()) };
        let mut tell = |name, help, value: &dyn Told| value.tell(&mut encoder, name, help);
        if let Ok(stat) = process.stat() {
            let ticks = procfs::ticks_per_second();
            let seconds = |ticks_taken: u64| to_float(ticks_taken) / to_float(ticks);
            let taken = seconds(stat.utime + stat.stime);
            tell("process_cpu_seconds", "Processor time taken", &ConstCounter::new(taken))?;
            let resident = to_float(stat.rss * procfs::page_size());
            let help = "Memory that is resident";
            tell("process_resident_memory_bytes", help, &ConstGauge::new(resident))?;
        }
        if let Ok(open) = process.fd_count() {
            let open = to_float(u64::try_from(open).unwrap_or(u64::MAX));
            tell("process_open_fds", "Files and connections open", &ConstGauge::new(open))?;
        }
        return Ok(());

        /// A value that is told.
        trait Told {
            fn tell(
                &self,
                encoder: &mut DescriptorEncoder<'_>,
                name: &str,
                help: &str,
            ) -> fmt::Result;
        }

        impl<M: Metric> Told for M {
            fn tell(
                &self,
                encoder: &mut DescriptorEncoder<'_>,
                name: &str,
                help: &str,
            ) -> fmt::Result {
                let metric = encoder.encode_descriptor(name, help, None, self.metric_type())?;
                EncodeMetric::encode(self, metric)
            }
        }
    }
}

/// Exact up to 2⁵³, and close enough beyond.
#[expect(clippy::cast_precision_loss, reason = "metrics are floating-point numbers")]
#[cfg(target_os = "linux")]
fn to_float(count: u64) -> f64 {
    count as f64
}
