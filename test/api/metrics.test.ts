// Tests the data points for Workers Analytics Engine.
import { expect, test } from "vitest";
import { createServiceCall } from "../support/world.ts";

test("a request writes one data point with its route pattern, status and code, and without what the caller sent", async () => {
  const points: AnalyticsEngineDataPoint[] = [];
  const service = createServiceCall({ METRICS: { writeDataPoint: (point: AnalyticsEngineDataPoint) => void points.push(point) } });
  const secret = "cc_00marker00marker00marker00";
  await service(`/v1/certs/${secret}/verify?email=marker@example.com`, { headers: { "user-agent": "marker" } });
  expect(points).toEqual([
    {
      indexes: ["request"],
      blobs: ["request", "/v1/certs/:cert_id/verify", "GET", "404", "cert_not_found"],
      doubles: [expect.any(Number)],
    },
  ]);
  expect(JSON.stringify(points)).not.toContain("marker");
});
