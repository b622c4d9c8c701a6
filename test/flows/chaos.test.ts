// Runs a few of the faults in `npm run chaos`, each for three rounds, and checks that the comparison notices lost and duplicate writes.
// Also tests the table of results in docs/operate/reliability.md.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answer, Client } from "../../scripts/chaos/client.ts";
import { faults, type Dependency, type FailingCall, type Fault, type FaultMode } from "../../scripts/chaos/faults.ts";
import type { OtherMachines } from "../../scripts/chaos/other-machines.ts";
import { reconcile } from "../../scripts/chaos/reconcile.ts";
import { formatRow, insertRow } from "../../scripts/chaos/results.ts";
import { bundleFaultyWorker, prepareService, runFault, type FaultResult, type PreparedService } from "../../scripts/chaos/run-fault.ts";
import { createWriteLog, type Business, type Submission } from "../../scripts/chaos/write-log.ts";
import { createDemoWorld } from "../../scripts/demo-world.ts";
import { worldSecret } from "../support/local-vars.ts";

const neverMs = 600_000;
const folder = mkdtempSync(join(tmpdir(), "svc-chaos-test-"));

const findFault = (dependency: Dependency, mode: FaultMode): Fault => {
  const fault = faults.find((known) => known.dependency === dependency && known.mode === mode);
  if (fault === undefined) throw new Error("no such fault");
  return fault;
};

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a service with a dependency that fails", () => {
  let service: PreparedService;
  beforeAll(async () => {
    const bundleDir = join(folder, "bundle");
    await bundleFaultyWorker(bundleDir);
    service = await prepareService(folder, bundleDir);
  }, 300_000);

  const others = [findFault("KV", "fail"), findFault("anchor queue", "wrong_data"), findFault("receivers", "lose_answer")];
  test.each<[string, Fault]>([
    ["a database loses responses", findFault("database 00", "lose_answer")],
    // Runs these faults together, so that the service starts only one more time.
    [
      "the store fails, the queue drops messages and receivers lose responses",
      { ...(others[0] as Fault), alongside: others as readonly FailingCall[] },
    ],
  ])("does not lose or duplicate any write while %s", { timeout: 900_000 }, async (_, fault) => {
    const result = await runFault({ service, fault, seed: 1, rounds: { before: 1, during: 1 }, faultMs: neverMs, deadlineMs: neverMs });
    expect(result.lost).toEqual([]);
    expect(result.duplicated).toEqual([]);
    expect(result.acknowledged).toBeGreaterThan(0);
    expect(result.provenAfterMs).not.toBeNull();
  });
});

describe("the comparison", () => {
  const { acme } = createDemoWorld(worldSecret);
  const business: Business = { account: acme, owner: "", receiver: { host: "hooks.example.com", endpointId: "whk_1" } };
  const submission: Submission = {
    business,
    email: "pat@example.com",
    phase: 0,
    certificate: { id: "cc_1", fingerprint: "f1" },
    isWithdrawn: true,
  };
  const event = { id: "e1", type: "certificate.revoked", seq: 1, cert_id: "cc_1", share_id: null };
  const verified = { fingerprint: "f1", status: "revoked", anchor: { status: "anchored" } };

  /**
   * Compares a write log, which contains one withdrawn certificate, with a service that returns the given responses. The receiver got the
   * events in `received`.
   */
  const compare = ({
    certificate = verified,
    found = [{ cert_id: "cc_1" }],
    events = [event],
    received = [event],
  }: {
    readonly certificate?: object | null;
    readonly found?: readonly object[];
    readonly events?: readonly object[];
    readonly received?: readonly (typeof event)[];
  }) => {
    const responses: Readonly<Record<string, object | null>> = {
      "/v1/certs/cc_1/verify": certificate,
      "/v1/certs/search": { certs: found },
      "/v1/events?limit=500&cursor=0": { events, next_cursor: 1, has_more: false },
      "/v1/shares?limit=200": { shares: [], has_more: false },
      "/v1/webhooks": { webhooks: [] },
    };
    const send = async (path: string): Promise<Answer> => {
      const data = responses[path];
      return { status: data === null ? 404 : 200, data: (data ?? {}) as Answer["data"], code: null, headers: new Headers() };
    };
    const client: Client = { send, sendUntilAnswered: send, download: async () => null, takeSlowestMs: () => 0, moveTo: () => {} };
    const machines: OtherMachines = {
      origin: "",
      emails: [],
      events: received.map((one) => ({ ...one, host: "hooks.example.com" })),
      stop: () => {},
    };
    const log = { ...createWriteLog(), submissions: [submission] };
    return reconcile({ client, log, machines, businesses: [business], runJobs: async () => {}, deadlineMs: 0, checksPacks: false });
  };

  test("finds nothing wrong with a service that has every write once", async () => {
    const { lost, duplicated, recoveredAt } = await compare({});
    expect({ lost, duplicated }).toEqual({ lost: [], duplicated: [] });
    expect(recoveredAt).not.toBeNull();
  });

  test.each<[string, Parameters<typeof compare>[0], readonly string[]]>([
    ["a missing certificate", { certificate: null }, ["certificate cc_1", "receipt of cc_1 from the ledger", "withdrawal of cc_1"]],
    ["another fingerprint", { certificate: { ...verified, fingerprint: "f2" } }, ["certificate cc_1"]],
    ["a withdrawal that is undone", { certificate: { ...verified, status: "active" } }, ["withdrawal of cc_1"]],
    ["a missing event", { events: [], received: [] }, ["event about the withdrawal of cc_1"]],
    ["a missing delivery", { received: [] }, ["deliveries to hooks.example.com"]],
    ["a missing receipt", { certificate: { ...verified, anchor: { status: "pending" } } }, ["receipt of cc_1 from the ledger"]],
  ])("reports %s as lost", async (_, service, expected) => {
    expect((await compare(service)).lost.toSorted()).toEqual(expected.toSorted());
  });

  test.each<[string, Parameters<typeof compare>[0]]>([
    ["two certificates of one submission", { found: [{ cert_id: "cc_1" }, { cert_id: "cc_2" }] }],
    ["an event that is in the feed twice", { events: [event, { ...event, id: "e2", seq: 2 }], received: [event, { ...event, id: "e2" }] }],
    ["a gap in the sequence", { events: [{ ...event, seq: 2 }] }],
  ])("reports %s as duplicated", async (_, service) => {
    expect((await compare(service)).duplicated).toHaveLength(1);
  });
});

describe("docs/operate/reliability.md", () => {
  const page = readFileSync("docs/operate/reliability.md", "utf8");
  const createRow = (id: string, change: Partial<FaultResult> = {}): string =>
    formatRow({
      fault: faults.find((fault) => fault.id === id) as Fault,
      seed: 1,
      acknowledged: 20,
      lost: [],
      duplicated: [],
      slowestMs: 100,
      recoveredAfterMs: 1_000,
      provenAfterMs: null,
      ...change,
    });

  test("gets a row for each fault and seed, in order, and a new row replaces an earlier one", () => {
    const empty = page.replaceAll(/^\| F\d.*\n/gm, "");
    const rows = [createRow("F10"), createRow("F2", { seed: 2 }), createRow("F2"), createRow("F10", { acknowledged: 30 })];
    const filled = rows.reduce(insertRow, empty);
    expect(filled.match(/^\| F\d.*$/gm)).toEqual([createRow("F2"), createRow("F2", { seed: 2 }), createRow("F10", { acknowledged: 30 })]);
    expect(filled.replaceAll(/^\| F\d.*\n/gm, "")).toBe(empty);
  });

  test("shows no lost or duplicate writes in any row that promises none", () => {
    const cells = (page.match(/^\| F\d.*$/gm) ?? []).map((line) => line.split("|").map((cell) => cell.trim()));
    expect(cells.length).toBeGreaterThan(0);
    for (const [, id, , , , , lost, duplicated] of cells) {
      const fault = faults.find((known) => known.id === id);
      expect(fault, id).toBeDefined();
      if (fault?.isPromised === true) expect([id, lost, duplicated]).toEqual([id, "0", "0"]);
    }
  });
});

describe("npm run chaos", () => {
  const run = (...options: readonly string[]) => spawnSync(process.execPath, ["scripts/chaos.ts", ...options], { encoding: "utf8" });

  test("lists every fault", () => {
    const lines = execFileSync(process.execPath, ["scripts/chaos.ts", "--list"], { encoding: "utf8" }).trim().split("\n");
    expect(lines.map((line) => line.split(" ", 1)[0])).toEqual(faults.map(({ id }) => id));
  });

  test.each([[[]], [["--fault", "F0"]], [["--fault", "F1", "--seed", "x"]]])("exits with 2 for %j", (options) => {
    expect(run(...options).status).toBe(2);
  });
});
