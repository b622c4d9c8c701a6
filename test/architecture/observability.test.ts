// What the platform keeps of a request beside our own log: nothing that could name a person.
import { describe, expect, test } from "vitest";
import { readRepositoryFile } from "./repository.ts";

describe.each(["wrangler.toml", "workers/ledger/wrangler.toml"])("%s", (path) => {
  const [, observability = ""] = readRepositoryFile(path).split("[observability]\n");

  test("L15: leaves no line of the platform's own for a request, and no query string in traces", () => {
    expect(observability).toMatch(/^enabled = true$/m); // our own log stays
    expect(observability).toMatch(/^redact_query_string = true\b/m);
    expect(observability).toMatch(/^\[observability\.logs\]\ninvocation_logs = false\b/m);
  });
});
