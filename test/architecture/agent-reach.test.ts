// Checks that agents cannot grant consent (SPEC Agent server). Lists every operation that the agent server can reach. None of these
// operations issues a certificate, creates, widens or renews a share, or creates a token.
import { describe, expect, test } from "vitest";
import { parseImports, readRepositoryFile, listScriptFiles } from "./repository.ts";

/** Lists the given files and all files that they import, directly or indirectly. Ignores type-only imports, because they run no code. */
const listReachableFiles = (files: readonly string[]): ReadonlySet<string> => {
  const reached = new Set<string>();
  const pending = [...files];
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    for (const { target, isTypeOnly } of parseImports(file))
      if (target !== null && !isTypeOnly && listScriptFiles().includes(target)) pending.push(target);
  }
  return reached;
};

const agentFiles = listScriptFiles().filter((file) => file.startsWith("workers/mcp/"));
const reachableFiles = listReachableFiles(agentFiles);

/** The operations that agents can reach. Before you add one, consider what an agent could do with it. */
const operations = [
  "workers/operations/agents/authenticate-agent-token.ts",
  "workers/operations/agents/notify-person-of-change.ts",
  "workers/operations/agents/record-tool-call.ts",
  "workers/operations/audit/get-audit-trail.ts",
  "workers/operations/consumers/compute-contact-indexes.ts",
  "workers/operations/consumers/continue-fan-outs.ts", // writes the copies of a changed field and the events about the change
  "workers/operations/consumers/list-own-shares.ts",
  "workers/operations/consumers/load-email-index.ts",
  "workers/operations/consumers/prepare-fields-update.ts",
  "workers/operations/consumers/prepare-share-updates.ts",
  "workers/operations/consumers/query-shards.ts",
  "workers/operations/consumers/update-contact-fields.ts",
  "workers/operations/events/get-event-feed.ts",
  "workers/operations/owner-notices.ts",
  "workers/operations/query-issuing-shards.ts",
  "workers/operations/shares/commit-revocation.ts",
  "workers/operations/shares/get-business-share.ts",
  "workers/operations/shares/get-own-share.ts",
  "workers/operations/shares/list-shares.ts",
  "workers/operations/shares/mail-to-person.ts",
  "workers/operations/shares/revoke-link.ts",
  "workers/operations/shares/revoke-share-by-person.ts",
  "workers/operations/shares/share-mails.ts",
  "workers/operations/webhooks/open-event-payloads.ts",
  "workers/operations/work-budget.ts",
];

describe("the agent server", () => {
  test("is covered completely", () => {
    expect(agentFiles.length).toBeGreaterThan(8);
    expect(reachableFiles.has("workers/operations/agents/record-tool-call.ts")).toBe(true);
  });

  test("reaches exactly the listed operations", () => {
    expect(
      [...reachableFiles].filter((file) => file.startsWith("workers/operations/")).sort(),
      "agents can reach other files than those in `operations` above; add one only if it is safe in the hands of an agent",
    ).toEqual([...operations].sort());
  });

  test("reaches no API route", () => {
    expect([...reachableFiles].filter((file) => /^workers\/api\/.*\/routes\.ts$/.test(file))).toEqual([]);
  });

  test("reaches nothing that issues certificates, grants or renews shares, or creates tokens", () => {
    const granting =
      /^workers\/operations\/(?:certificates\/(?:capture|commit)|agents\/(?:create|authorize-connection|exchange)|(?:.*\/)?(?:grant|renew|redeem|authorize|consent|decide|commit-share|reissue))[\w-]*\.ts$/;
    expect([...reachableFiles].filter((file) => granting.test(file))).toEqual([]);
    // Proves that the pattern matches existing files.
    expect(listScriptFiles().filter((file) => granting.test(file)).length).toBeGreaterThan(5);
  });

  test("writes only audit entries, emails, revocations and changed fields", () => {
    const writers = [...reachableFiles].filter(
      (file) => file.startsWith("workers/operations/") && /\b(?:commit|batch)\(/.test(readRepositoryFile(file)),
    );
    expect(writers.sort(), "agents can reach other code that writes").toEqual([
      "workers/operations/agents/notify-person-of-change.ts",
      "workers/operations/agents/record-tool-call.ts",
      "workers/operations/consumers/continue-fan-outs.ts",
      "workers/operations/consumers/update-contact-fields.ts",
      "workers/operations/shares/commit-revocation.ts",
    ]);
  });
});
