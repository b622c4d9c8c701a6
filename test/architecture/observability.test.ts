// Checks that Cloudflare's own logs and traces contain no personal data.
import { describe, expect, test } from "vitest";
import { readRepositoryFile } from "./repository.ts";

describe.each(["wrangler.toml", "workers/ledger/wrangler.toml"])("%s", (path) => {
  const [, observability = ""] = readRepositoryFile(path).split("[observability]\n");

  test("L15: disables Cloudflare's log line per request and its traces, and redacts query strings", () => {
    expect(observability).toMatch(/^enabled = true$/m); // keeps the service's own log enabled
    expect(observability).toMatch(/^redact_query_string = true\b/m);
    expect(observability).toMatch(/^\[observability\.logs\]\ninvocation_logs = false\b/m);
    expect(observability).toMatch(/^\[observability\.traces\]\nenabled = false\b/m);
  });
});
