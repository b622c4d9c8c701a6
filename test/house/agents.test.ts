// An agent never grants (SPEC, Agent rules): what the agent server can reach at all is written down here, file by file, and nothing
// that issues a certificate, makes, widens or renews a share, or makes a token is among it.
import { describe, expect, test } from "vitest";
import { importsOf, read, scriptFiles } from "./repository.ts";

/** Everything that runs when these files are loaded: types are left out, since nothing of them runs. */
const reachedFrom = (files: readonly string[]): ReadonlySet<string> => {
  const reached = new Set<string>();
  const waiting = [...files];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    for (const { target, typesOnly } of importsOf(file))
      if (target !== null && !typesOnly && scriptFiles().includes(target)) waiting.push(target);
  }
  return reached;
};

const own = scriptFiles().filter((file) => file.startsWith("workers/mcp/"));
const reached = reachedFrom(own);

/** Whoever adds an operation here has thought about what an assistant can do with it. */
const operations = [
  "workers/operations/access/api-key.ts", // by way of the guards that count calls
  "workers/operations/agents/authenticate.ts",
  "workers/operations/agents/record-call.ts",
  "workers/operations/agents/tell-person.ts",
  "workers/operations/allowance.ts",
  "workers/operations/audit/trail.ts",
  "workers/operations/consumers/fan-out.ts", // the copies and events of a changed field
  "workers/operations/consumers/fields.ts",
  "workers/operations/consumers/homes.ts",
  "workers/operations/consumers/profile.ts",
  "workers/operations/consumers/share-updates.ts",
  "workers/operations/events.ts",
  "workers/operations/shares/mails.ts", // what a person is told of a share that ended
  "workers/operations/shares/read.ts",
  "workers/operations/shares/revoke.ts",
  "workers/operations/webhooks/sending.ts", // opens what an event may tell
];

describe("the agent server", () => {
  test("is looked at whole", () => {
    expect(own.length).toBeGreaterThan(8);
    expect(reached.has("workers/operations/agents/record-call.ts")).toBe(true);
  });

  test("reaches these operations and no other", () => {
    expect([...reached].filter((file) => file.startsWith("workers/operations/")).sort()).toEqual([...operations].sort());
  });

  test("reaches no route, so that nothing of the API comes in by its door", () => {
    expect([...reached].filter((file) => /^workers\/api\/.*\/routes\.ts$/.test(file))).toEqual([]);
  });

  test("reaches nothing that issues, grants, renews or makes a token", () => {
    const granting =
      /^workers\/operations\/(?:certificates\/capture|agents\/(?:tokens|connect|exchange)|(?:.*\/)?(?:grant|renew|redeem|authorize|consent)[\w-]*)\.ts$/;
    expect([...reached].filter((file) => granting.test(file))).toEqual([]);
    expect(scriptFiles().filter((file) => granting.test(file)).length).toBeGreaterThan(5); // it names files that are there
  });

  test("writes the audit entry of a call, its mail, a revocation and a changed field, and nothing else", () => {
    const writers = [...reached].filter((file) => file.startsWith("workers/operations/") && /\b(?:commit|batch)\(/.test(read(file)));
    expect(writers.sort()).toEqual([
      "workers/operations/agents/record-call.ts",
      "workers/operations/agents/tell-person.ts",
      "workers/operations/consumers/fan-out.ts",
      "workers/operations/consumers/fields.ts",
      "workers/operations/shares/revoke.ts",
    ]);
  });
});
