// Checks rules for outgoing requests in the source code, because Cloudflare's limits are not enforced locally. The rules define which code
// may send requests, and forbid code that would keep a Durable Object awake.
import { describe, expect, test } from "vitest";
import { attemptLeaseMs, attemptTimeoutMs, maxDeliveryAttempts, maxConcurrentDeliveries } from "../../core/webhooks/retry-schedule.ts";
import { findMatchingLines, readRepositoryFile, listScriptFiles } from "./repository.ts";

const serviceFiles = listScriptFiles().filter(
  (file) => /^(?:core|storage|durable-objects|workers)\//.test(file) && !file.startsWith("workers/pages/client/"),
);

describe("outgoing requests", () => {
  test("are sent only by adapters, which check every URL that is not a setting", () => {
    const callers = new Set(findMatchingLines(serviceFiles, /(?<![.\w])fetch\(/).map((line) => line.slice(0, line.indexOf(":"))));
    const declared = [...callers].filter((file) => !file.startsWith("workers/adapters/")).sort();
    // Two kinds of lines are allowed: a Durable Object's declaration of its fetch method, and calls in the entry point and the ledger
    // binding that forward a request.
    expect(declared.filter((file) => findMatchingLines([file], /(?<![.\w])(?<!async )fetch\((?!request\b|_?request:)/).length > 0)).toEqual(
      [],
    );
  });

  test("to webhook endpoints stay below six concurrent connections and end before their lease ends", () => {
    expect(maxConcurrentDeliveries).toBeLessThan(6);
    expect(attemptLeaseMs).toBeGreaterThan(attemptTimeoutMs + 3_000); // the extra 3 s are for the DNS lookups
    expect(maxDeliveryAttempts).toBe(5);
    expect(readRepositoryFile("workers/adapters/webhook-sender.ts")).toMatch(/redirect: "manual"/);
  });

  test("leave no timer behind that would keep a Durable Object awake", () => {
    const inDeliveryQueue = serviceFiles.filter((file) => file.startsWith("durable-objects/") || /\/(?:webhook|public-hosts)/.test(file));
    expect(inDeliveryQueue).toContain("workers/operations/webhooks/send-event.ts");
    expect(findMatchingLines(inDeliveryQueue, /AbortSignal\.timeout\(/)).toEqual([]);
  });
});
