// Who may call an address that somebody else chose, and what must never keep an object awake: rules that no local run can show to
// be broken, because the platform's limits are not enforced here.
import { describe, expect, test } from "vitest";
import { attemptLeaseMs, attemptTimeoutMs, maxDeliveryAttempts, maxConcurrentDeliveries } from "../../core/webhooks/schedule.ts";
import { findMatchingLines, readRepositoryFile, listScriptFiles } from "./repository.ts";

const serviceFiles = listScriptFiles().filter(
  (file) => /^(?:core|storage|durable-objects|workers)\//.test(file) && !file.startsWith("workers/pages/client/"),
);

describe("outgoing requests", () => {
  test("W18: are made by adapters alone, where every address is judged or is a setting of ours", () => {
    const callers = new Set(findMatchingLines(serviceFiles, /(?<![.\w])fetch\(/).map((line) => line.slice(0, line.indexOf(":"))));
    const declared = [...callers].filter((file) => !file.startsWith("workers/adapters/")).sort();
    // objects that speak HTTP declare a method of this name; the entry and the ledger's seam pass requests on
    expect(declared.filter((file) => findMatchingLines([file], /(?<![.\w])(?<!async )fetch\((?!request\b|_?request:)/).length > 0)).toEqual(
      [],
    );
  });

  test("W18: to receivers are one less than the six connections the platform gives an object, and end before their lease", () => {
    expect(maxConcurrentDeliveries).toBeLessThan(6);
    expect(attemptLeaseMs).toBeGreaterThan(attemptTimeoutMs + 3_000); // the resolvers' time comes on top
    expect(maxDeliveryAttempts).toBe(5);
    expect(readRepositoryFile("workers/adapters/webhook-sender.ts")).toMatch(/redirect: "manual"/);
  });

  test("W18: leave no timer behind: a time-out that outlives its request keeps an object awake, and billed", () => {
    const inLanes = serviceFiles.filter((file) => file.startsWith("durable-objects/") || /\/(?:webhook|public-hosts)/.test(file));
    expect(inLanes).toContain("workers/operations/webhooks/send-event.ts");
    expect(findMatchingLines(inLanes, /AbortSignal\.timeout\(/)).toEqual([]);
  });
});
