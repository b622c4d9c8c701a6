// Exports a service with a month of data, imports it into a deployment with another master key, and uses everything there. The export and
// the import are each interrupted once and continued.
import { execFile } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeUtf8 } from "../../core/bytes.ts";
import { parseZip } from "../../core/certificates/evidence-zip.ts";
import { encodeEntryBundle } from "../../core/ledger/tiles.ts";
import { verifySignature } from "../../core/webhooks/verify-signature.ts";
import { consentRequest } from "../../scripts/bench/submission.ts";
import { createDemoWorld, type DemoWorld } from "../../scripts/demo-world.ts";
import { runExport, type ExportOptions } from "../../scripts/export/export.ts";
import { listObjectFiles, openForReading } from "../../scripts/export/local-stores.ts";
import { finishImport, runImport, type ImportOptions } from "../../scripts/export/import.ts";
import { startPreparedRuntime, type Runtime } from "../../scripts/local-runtime.ts";
import { buildLocalSettings, generateDevVars } from "../../scripts/settings.ts";
import { trustOf, type Trust } from "../../verifier/trust.ts";
import { defaultVerificationOptions, verifyPack } from "../../verifier/verify-pack.ts";
import { copyPreparedState, ensureBuiltWorker, findFreePort } from "../support/local-service.ts";
import { signInToOrigin } from "../support/local-session.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-export-test-"));
const exported = join(folder, "export");
const passphrase = "a passphrase of the export test";
const visitor = "pat.moving@mail.example";

interface Delivered {
  readonly body: string;
  readonly signature: string;
}
const delivered: Delivered[] = [];

let port: number;
let receiver: Server;
let receiverUrl: string;
let bundleDir: string;
let world: DemoWorld;
let sourceVars: Readonly<Record<string, string>>;
let runtime: Runtime | null = null;

const getOrigin = (): string => `http://localhost:${port}`;
const buildSettings = (stateDir: string, vars: Readonly<Record<string, string>>) =>
  buildLocalSettings({ port, demoPort: 1, stateDir: join(folder, stateDir), vars });

const start = async (stateDir: string, vars: Readonly<Record<string, string>>): Promise<Runtime> => {
  const settings = buildSettings(stateDir, vars);
  runtime = await startPreparedRuntime({
    ...settings,
    vars: {
      ...settings.vars,
      DEV_KEPT_TILES: "1",
      DEV_RATE_SCALE: "100000",
      DOH_URLS: "http://127.0.0.1:1/none",
      DEV_FETCH_ALLOW: new URL(receiverUrl).host,
    },
    bundleDir,
    assetsDir: join(bundleDir, "assets"),
    printsLog: false,
  });
  return runtime;
};
const stop = async (): Promise<void> => {
  await runtime?.dispose();
  runtime = null;
};

beforeAll(async () => {
  bundleDir = await ensureBuiltWorker();
  port = await findFreePort();
  receiver = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      delivered.push({ body: Buffer.concat(parts).toString("utf8"), signature: String(request.headers["svc-signature"]) });
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  sourceVars = await copyPreparedState(join(folder, "source"), "month");
  world = createDemoWorld(sourceVars.ISSUER_KEY as string);
}, 240_000);
afterAll(async () => {
  await stop();
  receiver.closeAllConnections();
  receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

const getAnswer = async <T>(path: string, init: RequestInit = {}): Promise<T> => {
  const headers = { "content-type": "application/json", authorization: `Bearer ${world.acme.keys.live}` };
  const response = await fetch(`${getOrigin()}${path}`, { ...init, headers: init.headers ?? headers });
  const body = (await response.json()) as { data?: T; error?: object };
  if (body.data === undefined) throw new Error(`${path}: ${response.status} ${JSON.stringify(body.error)}`);
  return body.data;
};
const getTrust = async (): Promise<Trust> => trustOf(await (await fetch(`${getOrigin()}/.well-known/svc-trust.json`)).json()) as Trust;
const signInOwner = async (): Promise<Record<string, string>> => ({
  "content-type": "application/json",
  cookie: await signInToOrigin(getOrigin(), world.ownerEmail),
  origin: getOrigin(),
});
const getPack = async (certId: string): Promise<Uint8Array> => {
  const response = await fetch(`${getOrigin()}/v1/certs/${certId}/evidence-pack?format=zip`, {
    headers: { authorization: `Bearer ${world.acme.keys.live}` },
  });
  expect(response.status).toBe(200);
  return new Uint8Array(await response.arrayBuffer());
};
const listFiles = (pack: Uint8Array): readonly string[] => {
  const parsed = parseZip(pack, pack.length);
  return parsed.ok ? [...parsed.files.keys()] : [];
};
const readCheckpointSize = async (log: string): Promise<number> => {
  const response = await fetch(`${getOrigin()}/${log}/checkpoint`);
  expect(response.status, log).toBe(200);
  return Number((await response.text()).split("\n")[1]);
};
const issue = async (n: number): Promise<{ cert_id: string; manage_url: string }> => {
  const { headers, body } = consentRequest(world.acme, "https://www.example.com", n);
  const fields = { email: visitor, first_name: "Pat" };
  return getAnswer("/v1/consent", {
    method: "POST",
    headers: { ...headers },
    body: JSON.stringify({ ...(JSON.parse(body as string) as object), fields }),
  });
};
const runJobs = async (interval: number): Promise<void> => {
  await runtime?.scheduled("* * * * *");
  await runtime?.scheduled("*/15 * * * *", new Date(Date.now() + interval * 15 * 60_000));
  await runtime?.scheduled("* * * * *");
};
const listCertificates = async (status: string): Promise<readonly string[]> =>
  (await getAnswer<{ certs: { cert_id: string }[] }>(`/v1/certs?status=${status}&per_page=5`)).certs.map(({ cert_id: id }) => id);
interface Verification {
  readonly anchor: { readonly status: string };
  readonly policies: readonly { readonly kind: string; readonly content_hash: string }[];
  readonly withdrawal: { readonly anchor: { readonly status: string } } | null;
}
const getVerifications = (certIds: readonly string[]): Promise<readonly Verification[]> =>
  Promise.all(certIds.map((id) => getAnswer<Verification>(`/v1/certs/${id}/verify`)));
/** Waits until the ledger has all statements about the certificates, because their verification does not change after that. */
const getAnchoredVerifications = async (certIds: readonly string[]): Promise<readonly Verification[]> => {
  for (;;) {
    await runtime?.scheduled("* * * * *");
    const found = await getVerifications(certIds);
    const anchors = found.flatMap(({ anchor, withdrawal }) => [anchor, ...(withdrawal === null ? [] : [withdrawal.anchor])]);
    if (anchors.every(({ status }) => status === "anchored")) return found;
  }
};

/** Adds entries to the ledger, so that it moves its oldest three tiles to R2 after ten seconds. */
const fillLedger = async (): Promise<void> => {
  for (let from = 0; from < 1_280; from += 256) {
    const entries = Array.from({ length: 256 }, (_, at) => encodeUtf8(`entry ${from + at}`));
    const headers = { authorization: `Bearer ${sourceVars.LEDGER_WRITE_TOKEN}` };
    const response = await fetch(`${getOrigin()}/ledger/2026h2/add-batch`, { method: "POST", headers, body: encodeEntryBundle(entries) });
    expect(response.status).toBe(200);
  }
  await readCheckpointSize("ledger/2026h2"); // makes the ledger sign the entries
};
const waitForRemovedTiles = async (): Promise<void> => {
  const [file = ""] = listObjectFiles(buildSettings("source", sourceVars).stateDir, "LedgerLog");
  const countRemoved = async (): Promise<number> => {
    await readCheckpointSize("ledger/2026h2");
    const database = openForReading(file);
    const row = database.prepare("SELECT v FROM meta WHERE k = 'removed_tiles'").get();
    database.close();
    return Number(row?.v ?? 0);
  };
  await expect.poll(countRemoved, { timeout: 60_000, interval: 250 }).toBeGreaterThanOrEqual(3);
};
const oldLedgerPaths = ["tile/0/000", "tile/0/002.p/9", "tile/entries/001", "proof?index=3&size="];
const readOldLedger = (size: number, vars: Readonly<Record<string, string>>): Promise<readonly string[]> =>
  Promise.all(
    oldLedgerPaths.map(async (path) => {
      const url = `${getOrigin()}/ledger/2026h2/${path}${path.endsWith("=") ? size : ""}`;
      const response = await fetch(url, { headers: { authorization: `Bearer ${vars.LEDGER_AUDITOR_TOKEN}` } });
      return `${response.status} ${Buffer.from(await response.arrayBuffer()).toString("base64")}`;
    }),
  );

const exportOptions = (changes: Partial<ExportOptions> = {}): ExportOptions => {
  const { stateDir, extraShards, vars } = buildSettings("source", sourceVars);
  const base = { stateDir, extraShards, vars, folder: exported, passphrase, serviceVersion: "1.0.0", now: Date.now, report: () => {} };
  return { ...base, ...changes };
};
const importOptions = (vars: Readonly<Record<string, string>>, changes: Partial<ImportOptions> = {}): ImportOptions => {
  const target = buildSettings("target", vars);
  return {
    stateDir: target.stateDir,
    extraShards: target.extraShards,
    vars: target.vars,
    folder: exported,
    passphrase,
    report: () => {},
    ...changes,
  };
};
/** Returns a report function that throws on call number `line`, as if the process were killed there. */
const createInterrupt = (line: number): ((text: string) => void) => {
  let lines = 0;
  return () => {
    lines += 1;
    if (lines === line) throw new Error("interrupted");
  };
};

describe("an export and its import into another deployment", () => {
  test("move everything: certificates, proofs, withdrawals, logs, keys, members, shares and endpoints", { timeout: 400_000 }, async () => {
    await start("source", sourceVars);
    await fillLedger();
    const owner = await signInOwner();
    const certIds = [...(await listCertificates("active")), ...(await listCertificates("revoked"))];
    expect(certIds).toHaveLength(10);
    const issued = await issue(1);
    await runJobs(0);
    const endpoint = await getAnswer<{ id: string; secret: string }>("/v1/webhooks", {
      method: "POST",
      headers: owner,
      body: JSON.stringify({ url: receiverUrl, description: "moves" }),
    });
    const { shares } = await getAnswer<{ shares: { id: string }[] }>("/v1/shares?status=active");
    const shareId = shares[0]?.id as string;
    const before = {
      verifications: await getAnchoredVerifications(certIds),
      share: (await getAnswer<{ fields: object }>(`/v1/consumers/${shareId}/current`)).fields,
      events: await getAnswer("/v1/events?limit=200"),
      members: await getAnswer("/v1/business/portal/members", { headers: owner }),
      secret: await getAnswer(`/v1/webhooks/${endpoint.id}/secret`, { headers: owner }),
    };
    const trust = await getTrust();
    await waitForRemovedTiles();
    const sizes = { audit: await readCheckpointSize("audit/00"), ledger: await readCheckpointSize("ledger/2026h2") };
    expect(sizes.audit).toBeGreaterThan(0);
    expect(sizes.ledger).toBeGreaterThan(0);
    const oldLedger = await readOldLedger(sizes.ledger, sourceVars);
    expect(oldLedger.map((response) => response.slice(0, 3))).toEqual(["200", "200", "200", "200"]);
    await stop();

    // The export stops after its fifth file. When the same command is repeated, it keeps the complete files.
    await expect(runExport(exportOptions({ report: createInterrupt(5) }))).rejects.toThrow("interrupted");
    const first = join(exported, "databases/00/account_erasures.sealed");
    const written = statSync(first).mtimeMs;
    await expect(runExport(exportOptions({ passphrase: "another long passphrase" }))).rejects.toThrow("not the passphrase");
    const manifest = await runExport(exportOptions());
    expect(statSync(first).mtimeMs).toBe(written);
    expect(manifest.files.length).toBeGreaterThan(60);
    await expect(runExport(exportOptions())).rejects.toThrow("is not empty");
    for (const path of globSync(join(exported, "**/*")).filter((one) => statSync(one).isFile())) {
      const text = readFileSync(path).toString("latin1");
      for (const known of [visitor, world.acme.id, sourceVars.INDEX_KEY as string]) expect(text.includes(known), path).toBe(false);
    }

    const targetVars = {
      ...generateDevVars(),
      MASTER_KEYS: generateDevVars().MASTER_KEYS?.replace("1:", "7:") as string,
      LINK_KEYS: `1:${generateDevVars().INDEX_KEY}`,
    };
    await expect(runImport(importOptions(targetVars, { passphrase: "another long passphrase" }))).rejects.toThrow("not the passphrase");
    const checked: string[] = [];
    await runImport(importOptions(targetVars, { isDryRun: true, report: (text) => checked.push(text) }));
    expect(checked).toHaveLength(manifest.files.length);
    expect(existsSync(join(folder, "target"))).toBe(false);

    await expect(runImport(importOptions(targetVars, { report: createInterrupt(40) }))).rejects.toThrow("interrupted");
    const continued: string[] = [];
    const moved = await runImport(importOptions(targetVars, { report: (text) => continued.push(text) }));
    expect(continued).toHaveLength(manifest.files.length - 40);
    finishImport(importOptions(targetVars));
    expect(moved.MASTER_KEYS).toBeUndefined();
    expect(moved.LINK_KEYS).toBe(""); // the exported deployment has no link keys, so its links depend on INDEX_KEY
    rmSync(join(folder, "source"), { recursive: true });

    const vars = { ...targetVars, ...moved };
    expect(vars.MASTER_KEYS).toBe(targetVars.MASTER_KEYS);
    await start("target", vars);
    const newOwner = await signInOwner();
    expect(await getVerifications(certIds)).toEqual(before.verifications);
    expect(await getAnswer(`/v1/consumers/${shareId}/current`)).toMatchObject({ fields: before.share });
    expect(await getAnswer("/v1/events?limit=200")).toEqual(before.events);
    expect(await getAnswer("/v1/business/portal/members", { headers: newOwner })).toEqual(before.members);
    expect(await getAnswer(`/v1/webhooks/${endpoint.id}/secret`, { headers: newOwner })).toEqual(before.secret);
    // A session from before the move still works.
    expect(await getAnswer(`/v1/business/portal/members`, { headers: { ...owner } })).toEqual(before.members);
    const found = await getAnswer<{ certs: { cert_id: string }[] }>("/v1/certs/search", {
      method: "POST",
      body: JSON.stringify({ subject_email: visitor }),
    });
    expect(found.certs.map(({ cert_id: id }) => id)).toEqual([issued.cert_id]);

    // The new ledger also has the tiles and entries that the old ledger had only in R2.
    expect(await readOldLedger(sizes.ledger, vars)).toEqual(oldLedger);

    // Verifies the packs with the public keys that were saved before the move.
    for (const [at, id] of certIds.entries()) {
      const pack = await getPack(id);
      const { failed } = await verifyPack(pack, { ...defaultVerificationOptions, trust });
      expect(failed, id).toBeNull();
      const policyFiles = (before.verifications[at]?.policies ?? []).map((policy) => `policies/${policy.kind}-${policy.content_hash}.txt`);
      expect(listFiles(pack)).toEqual(expect.arrayContaining(policyFiles));
    }

    // The logs grow from their earlier sizes, and witnesses and verifiers accept the growth as an extension.
    const laterCertificate = await issue(2);
    await runJobs(1);
    const sizesAfter = { audit: await readCheckpointSize("audit/00"), ledger: await readCheckpointSize("ledger/2026h2") };
    expect(sizesAfter.audit).toBeGreaterThan(sizes.audit);
    expect(sizesAfter.ledger).toBeGreaterThan(sizes.ledger);
    const { failed } = await verifyPack(await getPack(laterCertificate.cert_id), { ...defaultVerificationOptions, trust });
    expect(failed).toBeNull();

    // The person withdraws with the link that was created before the move. The endpoint gets the event, signed with the endpoint's secret.
    const token = new URL(issued.manage_url).hash.slice("#m=".length);
    await getAnswer(`/v1/certs/${issued.cert_id}/opt-out/manage`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token }),
    });
    expect((await getVerifications([issued.cert_id]))[0]).toMatchObject({ status: "revoked", withdrawal: { method: "manage_link" } });
    const findDelivered = (): Delivered | undefined => delivered.find(({ body }) => body.includes(issued.cert_id));
    while (findDelivered() === undefined) await runtime?.scheduled("* * * * *");
    const event = findDelivered() as Delivered;
    expect(verifySignature(event.body, event.signature, endpoint.secret, Math.floor(Date.now() / 1_000))).toBe(true);
    await stop();

    // The import refuses a state folder with data, a deployment whose logs have other names, and changed files.
    const target = importOptions(targetVars);
    await expect(runImport(target)).rejects.toThrow("already has data");
    const otherTarget = { ...target, stateDir: join(folder, "elsewhere") };
    await expect(runImport({ ...otherTarget, vars: { ...target.vars, BASE_URL: "https://api.other.example/v1" } })).rejects.toThrow(
      "the API must keep its host",
    );
    const changed = join(exported, "databases/00/businesses.sealed");
    const bytes = readFileSync(changed);
    bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
    writeFileSync(changed, bytes);
    await expect(runImport({ ...otherTarget, isDryRun: true })).rejects.toThrow("databases/00/businesses.sealed is missing or was changed");
    const manifestPath = join(exported, "manifest.json");
    writeFileSync(manifestPath, readFileSync(manifestPath, "utf8").replace('"lines": 1', '"lines": 2'));
    await expect(runImport({ ...otherTarget, isDryRun: true })).rejects.toThrow("was changed");
    expect(existsSync(join(folder, "elsewhere"))).toBe(false);
  });

  test("leave other files in the state folder", () => {
    const stateDir = join(folder, "shared");
    mkdirSync(`${stateDir}.importing/v3`, { recursive: true });
    mkdirSync(stateDir);
    writeFileSync(join(stateDir, "backup.sealed"), "backup");
    finishImport({ stateDir });
    expect(readdirSync(stateDir).sort()).toEqual(["backup.sealed", "v3"]);
    expect(existsSync(`${stateDir}.importing`)).toBe(false);
  });

  test("are refused without a passphrase", async () => {
    const env = { ...process.env, EXPORT_PASSPHRASE: "" };
    for (const command of ["export", "import"]) {
      const run = promisify(execFile)(process.execPath, ["scripts/admin.ts", command, join(folder, "none")], { env });
      await expect(run, command).rejects.toThrow("Set EXPORT_PASSPHRASE to the passphrase");
    }
    expect(existsSync(join(folder, "none"))).toBe(false);
  });
});
