// Tests `npm run doctor`, including its deployment checks, against a running service.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { resolveDeployment } from "../../scripts/deploy/config.ts";
import { findMissingSecrets, generateDeploymentSecrets, getSecretsPath, writeSecrets } from "../../scripts/deploy/secrets.ts";
import { listDeploymentFaults } from "../../scripts/deploy/wrangler-config.ts";
import { checkOptions, checkSecrets, checkService, checkSettings } from "../../scripts/doctor/deployment.ts";
import type { Finding } from "../../scripts/doctor/finding.ts";
import { noteKeyPair } from "../../scripts/note-secret.ts";
import { findFreePort, startLocalService, type LocalService } from "../support/local-service.ts";

const deployment = resolveDeployment({ production: {} }, "production", { domain: "acme-solar.test" });
const folder = mkdtempSync(join(tmpdir(), "svc-doctor-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const describeFindings = (findings: readonly Finding[]): string[] => findings.map(({ level, text }) => `${level} ${text}`);

test("npm run doctor checks the machine and the configuration, and needs no domain", async () => {
  const { status, stdout } = spawnSync(process.execPath, ["scripts/doctor.ts"], {
    encoding: "utf8",
    env: { ...process.env, PORT: String(await findFreePort()), DEMO_PORT: String(await findFreePort()) },
  });
  expect(status, stdout).toBe(0);
  expect(stdout).toContain("ok    svc.config.ts, production: no domain yet. It is needed only to deploy.");
  expect(stdout).toContain("Nothing needs to be fixed.");
});

test.each([[["--bogus"]], [["--domain"]], [["extra"]]])("npm run doctor prints its usage and exits with 2 for %j", (words) => {
  const { status, stderr } = spawnSync(process.execPath, ["scripts/doctor.ts", ...words], { encoding: "utf8" });
  expect([status, stderr]).toEqual([2, expect.stringContaining("Usage: npm run doctor")]);
  expect(stderr).not.toContain("at parseArgs");
});

describe("the options of a deployment", () => {
  test("are reported with a fix if they are invalid", () => {
    const { findings } = checkOptions({ production: { domain: "example.com" } }, "production", undefined);
    expect(describeFindings(findings)).toEqual(["fail svc.config.ts, production: domain is a placeholder. Use a domain of yours."]);
  });
});

describe("alerts, metrics and traces", () => {
  test("are reported, and missing alerts are reported with a fix", () => {
    const { findings } = checkOptions({ production: { domain: "acme-solar.test" } }, "production", undefined);
    expect(findings).toContainEqual({
      level: "warn",
      text: "svc.config.ts, production: alerts are not sent to anyone.",
      fix: "Set alerts: docs/operate/alerts.md.",
    });
    const alerts = { email: "ops@acme-solar.test", thresholds: { full_shard: 60 } };
    const settings = { OTLP_TRACES_URL: "https://otlp.acme-solar.test/v1/traces" };
    const configured = checkOptions(
      { production: { domain: "acme-solar.test", alerts, metrics: true, settings } },
      "production",
      undefined,
    );
    expect(describeFindings(configured.findings).slice(1)).toEqual([
      "ok Alerts are sent to ops@acme-solar.test.",
      "ok Full tiles of the logs are stored in R2.",
      "ok Metrics are written to Workers Analytics Engine.",
      "ok Traces are sent to OTLP_TRACES_URL.",
    ]);
    expect(configured.deployment?.vars).toMatchObject({ ALERT_EMAIL: "ops@acme-solar.test", ALERT_FULL_SHARD: "60" });
  });
});

describe("the settings of a deployment", () => {
  test("are checked as the Worker checks them, together with the secrets", async () => {
    const secrets = await generateDeploymentSecrets(deployment, new Date("2026-11-26T00:00:00Z"));
    expect(await checkSettings(deployment, null)).toMatchObject({ level: "ok" });
    expect(await checkSettings(deployment, secrets)).toMatchObject({ level: "ok" });
    const alerts = { email: "ops@acme-solar.test", thresholds: { full_shard: 60.5 } };
    const misconfigured = resolveDeployment({ production: { alerts } }, "production", { domain: "acme-solar.test" });
    expect(await checkSettings(misconfigured, { ...secrets, INDEX_KEY: "short" })).toMatchObject({
      level: "fail",
      text: 'Settings or secrets are invalid: INDEX_KEY, ALERT_FULL_SHARD="60.5" (must be a whole number from 0).',
    });
  });

  test("are reported if they need others that this machine does not have", async () => {
    const secrets = await generateDeploymentSecrets(deployment, new Date("2026-11-26T00:00:00Z"));
    const prices = { STRIPE_PRICE_BUSINESS: "price_1", STRIPE_PRICE_WHITE_GLOVE: "price_2" };
    const billed = resolveDeployment({ production: { settings: prices } }, "production", { domain: "acme-solar.test" });
    const keys = { STRIPE_SECRET_KEY: "sk_live_abcdefgh", STRIPE_WEBHOOK_SECRET: "whsec_abcdefghijklmnop" };
    const { STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET } = keys;
    expect(await checkSettings(billed, { ...secrets, ...keys })).toMatchObject({ level: "ok" });
    expect(await checkSettings(billed, { ...secrets, STRIPE_SECRET_KEY })).toMatchObject({
      level: "warn",
      text: "Other settings need STRIPE_WEBHOOK_SECRET, which neither svc.config.ts nor the secrets file contains.",
    });
    const { INDEX_KEY: _, ...incomplete } = secrets; // the check of the secrets reports that this one is missing
    expect(await checkSettings(billed, { ...incomplete, STRIPE_WEBHOOK_SECRET })).toMatchObject({
      level: "warn",
      text: "Other settings need STRIPE_SECRET_KEY, which neither svc.config.ts nor the secrets file contains.",
    });
    expect(await checkSettings(billed, null)).toMatchObject({ level: "ok" });
  });

  test("are refused if the Worker has secrets that need them", async () => {
    const secrets = ["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET", "METRICS_TOKEN", ...findMissingSecrets(deployment, [])];
    const faults = await listDeploymentFaults(deployment, {}, secrets);
    expect(faults).toEqual(["STRIPE_PRICE_BUSINESS", "STRIPE_PRICE_WHITE_GLOVE", "METRICS_ACCOUNT_ID"]);
    expect(await listDeploymentFaults(deployment, {}, findMissingSecrets(deployment, []))).toEqual([]);
  });

  test("are valid for an external ledger even if the secret with its name is not on this machine", async () => {
    const ledgerOrigin = "ledger.acme-solar.test/ledger/2026h2";
    const settings = { LEDGER_URL: `https://${ledgerOrigin}`, LEDGER_VKEYS: noteKeyPair(ledgerOrigin, randomBytes(32)).vkey };
    const external = resolveDeployment({ production: { settings } }, "production", { domain: "acme-solar.test" });
    expect(await checkSettings(external, null)).toMatchObject({ level: "ok" });
    expect(await checkSettings(external, { LEDGER_ORIGIN: "ledger.acme-solar.test/ledger/2027h1" })).toMatchObject({
      level: "fail",
      text: "Settings or secrets are invalid: LEDGER_VKEYS.",
    });
  });
});

describe("the secrets of a deployment", () => {
  const path = getSecretsPath(folder, deployment);

  test("may be missing, must be complete, and must be readable by their owner only", async () => {
    expect(describeFindings(checkSecrets(folder, deployment).findings)).toEqual([`warn ${path} is not on this machine.`]);
    const { INDEX_KEY: _, ...incomplete } = await generateDeploymentSecrets(deployment, new Date("2026-11-26T00:00:00Z"));
    writeFileSync(path, JSON.stringify(incomplete), { mode: 0o600 });
    expect(describeFindings(checkSecrets(folder, deployment).findings)).toEqual([`fail ${path} lacks INDEX_KEY.`]);
    writeSecrets(path, await generateDeploymentSecrets(deployment, new Date("2026-11-26T00:00:00Z")));
    expect(describeFindings(checkSecrets(folder, deployment).findings)).toEqual([`ok ${path} has every secret, and only you can read it.`]);
    writeFileSync(path, "{", { mode: 0o600 });
    expect(describeFindings(checkSecrets(folder, deployment).findings)).toEqual([
      `fail ${path} is not valid JSON. Restore it from your backup.`,
    ]);
    chmodSync(path, 0o644);
    expect(describeFindings(checkSecrets(folder, deployment).findings)).toEqual([
      `fail Other users of this machine can read ${path}. Run chmod 600 ${path}.`,
    ]);
  });
});

describe("a running deployment", () => {
  const adminToken = "operator-token-of-the-doctor-test-43-chars-";
  let service: LocalService;
  beforeAll(async () => {
    service = await startLocalService({ ADMIN_TOKEN_SHA256: sha256Hex(adminToken) });
  }, 120_000);
  afterAll(() => service.stop());

  test("is reported with its shards and its overdue work", async () => {
    const findings = describeFindings(await checkService(deployment, adminToken, service.origin));
    expect(findings).toContain(`ok ${service.origin}/v1 is healthy.`);
    expect(findings).toContain("ok Shard 00 is 0% full.");
    expect(findings).toContain("ok No work is overdue.");
  });

  test("is reported with the shard whose database does not respond, or with the error of the report", async () => {
    const shards = [{ shard: "01", bytes: 0, max_bytes: 1, available: false }];
    const report = { data: { stuck: [], shards, failing_endpoints: [] } };
    let status = 200;
    const stub = createServer(({ url }, response) => {
      response.writeHead(url === "/v1/health" ? 200 : status, { "content-type": "application/json" }).end(JSON.stringify(report));
    });
    await new Promise<void>((listening) => stub.listen(0, "127.0.0.1", listening));
    const origin = `http://127.0.0.1:${(stub.address() as AddressInfo).port}`;
    expect(describeFindings(await checkService(deployment, adminToken, origin))).toContain(
      "fail The database of shard 01 is not responding.",
    );
    status = 503;
    expect(describeFindings(await checkService(deployment, adminToken, origin))).toContain(`fail ${origin}/v1/admin/stuck returned 503.`);
    await new Promise((closed) => stub.close(closed));
  });

  test("is reported when it refuses the operator token or does not respond", async () => {
    const refused = await checkService(deployment, "another-operator-token-that-is-not-set-here", service.origin);
    expect(describeFindings(refused)).toContain("fail The service does not accept the operator token.");
    const silent = await checkService(deployment, adminToken, "http://127.0.0.1:9");
    expect(describeFindings(silent)).toEqual(["warn http://127.0.0.1:9/v1 is not responding."]);
  });
});
