// Writes the log's request and metric lines to Workers Analytics Engine if the deployment has the binding. A data point contains the values
// of the log line without the IDs, so it contains no personal data.
import type { Log } from "../log.ts";

/** Returns a log that also writes data points. docs/operate/observability.md describes their columns. */
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
