// Writes the log's request lines and figures to Workers Analytics Engine, if the deployment has the binding. A data point has no personal
// data: it contains what the log line contains, without the IDs.
import type { Log } from "../log.ts";

/** Returns a log that also writes data points. Columns: docs/operate/observability.md. */
export const withMetrics = (log: Log, dataset: AnalyticsEngineDataset | undefined): Log =>
  dataset === undefined
    ? log
    : {
        ...log,
        request: (line) => {
          log.request(line);
          const { route, method, status, code = "", ms } = line;
          dataset.writeDataPoint({ indexes: ["request"], blobs: ["request", route, method, String(status), code], doubles: [ms] });
        },
        metric: (line) => {
          log.metric(line);
          dataset.writeDataPoint({ indexes: ["figure"], blobs: ["figure", line.metric, line.shard], doubles: [line.value] });
        },
      };
