// Rotates every key of a running service while visitors submit forms. The test interrupts the rotations, and then reads and verifies
// everything.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dayMs, minuteMs } from "../../core/time.ts";
import { consentRequest } from "../../scripts/bench/submission.ts";
import type { Secrets } from "../../scripts/deploy/secrets.ts";
import { checkLinkKeys, checkPublishedKeys } from "../../scripts/keys/check.ts";
import { listMasterKeyVersions } from "../../scripts/keys/changes.ts";
import { countOutdatedValues, describeRotation, runRotation, type RotationOptions } from "../../scripts/keys/rotate.ts";
import type { rotations } from "../../scripts/keys/rotations.ts";
import { checkWebhookRotation, describeWebhookRotation, rotateWebhooks, type ReplaceSecrets } from "../../scripts/keys/rotate-webhooks.ts";
import { createReplaceSecretsCall, createProcessStoredCall, fetchLinkKeys } from "../../scripts/keys/service-calls.ts";
import { trustOf } from "../../verifier/trust.ts";
import { defaultVerificationOptions, verifyPack } from "../../verifier/verify-pack.ts";
import { findNewestCode } from "../support/email-code.ts";
import { startServiceForFile } from "../support/local-service.ts";
import { signInToOrigin } from "../support/local-session.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-rotation-"));
const statePath = join(folder, "test.rotation.json");

const service = await startServiceForFile({ DEV_RATE_SCALE: "100000" }, "month");
let secrets: Secrets;
let owner: Readonly<Record<string, string>>;

beforeAll(async () => {
  secrets = service.vars;
  owner = { cookie: await signInToOrigin(service.origin, service.world.ownerEmail), origin: service.origin };
}, 240_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const getApiUrl = (): string => `${service.origin}/v1`;
const buildHeaders = (): Record<string, string> => ({ authorization: `Bearer ${service.world.acme.keys.live}` });

interface Acknowledged {
  readonly certId: string;
  readonly email: string;
}

const minSubmissions = 12;
const pauseMs = 100; // after each submission, so that the rotation gets most of the CPU time

/** Simulates visitors who submit forms one after another, and repeat a submission with the same ID until it is acknowledged. */
const startTraffic = () => {
  const acknowledged: Acknowledged[] = [];
  let isOpen = true;
  const submit = async (n: number): Promise<void> => {
    const { headers, body } = consentRequest(service.world.acme, "https://www.example.com", n);
    for (;;) {
      const response = await fetch(`${getApiUrl()}/consent`, { method: "POST", headers: { ...headers }, body: body as string }).catch(
        () => null,
      );
      const parsedBody = response === null ? null : ((await response.json().catch(() => null)) as { data?: { cert_id: string } } | null);
      if (parsedBody?.data !== undefined) {
        acknowledged.push({
          certId: parsedBody.data.cert_id,
          email: (JSON.parse(body as string) as { fields: { email: string } }).fields.email,
        });
        return;
      }
      // If a restart cut off the response, it cannot be parsed, and the submission is repeated.
      if (response !== null && parsedBody !== null && response.status < 500) throw new Error(`refused: ${JSON.stringify(parsedBody)}`);
      await delay(50);
    }
  };
  const visitors = (async () => {
    for (let n = 0; isOpen || acknowledged.length < minSubmissions; n += 1) {
      await submit(n);
      await delay(pauseMs);
    }
  })();
  return {
    acknowledged,
    stop: async () => {
      isOpen = false;
      await visitors;
    },
  };
};

const buildRotationOptions = (aheadMs = 0): RotationOptions => ({
  statePath,
  store: {
    read: () => secrets,
    write: (changed) => {
      secrets = changed;
    },
    publish: (changed) => service.restartWith(changed),
  },
  processStored: (kind, cursor, isCheck) =>
    createProcessStoredCall(getApiUrl(), () => service.vars.ADMIN_TOKEN ?? "")(kind, cursor, isCheck),
  now: () => Date.now() + aheadMs,
  report: () => {},
});

/** Runs a rotation to its end, as if the operator repeated the command each time the next step is due. */
const rotate = async (kind: keyof typeof rotations): Promise<void> => {
  for (let aheadMs = 0; !(await runRotation(kind, buildRotationOptions(aheadMs))); ) aheadMs += 31 * dayMs;
};

const getData = async <T>(path: string, init: RequestInit = {}): Promise<T> => {
  const response = await fetch(`${getApiUrl()}${path}`, {
    ...init,
    headers: { "content-type": "application/json", ...(init.headers ?? buildHeaders()) },
  });
  const body = (await response.json()) as { data?: T; error?: object };
  if (body.data === undefined) throw new Error(`${path}: ${response.status} ${JSON.stringify(body.error)}`);
  return body.data;
};

interface Assistant {
  readonly client_id: string;
  readonly client_secret: string;
}

const registerAssistant = async (): Promise<Assistant> => {
  const registration = { redirect_uris: ["http://127.0.0.1:7777/callback"], token_endpoint_auth_method: "client_secret_post" };
  const response = await fetch(`${service.origin}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(registration),
  });
  return (await response.json()) as Assistant;
};

/** Exchanges an unknown code. Returns the error, which shows whether the service accepts the client's ID and secret. */
const useAssistant = async ({ client_id: id, client_secret: secret }: Assistant): Promise<string> => {
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    code: "unknown",
    client_id: id,
    client_secret: secret,
    redirect_uri: "http://127.0.0.1:7777/callback",
    code_verifier: "verifier-of-the-tests-43-characters-or-more-0",
  });
  const response = await fetch(`${service.origin}/oauth/token`, { method: "POST", body });
  return ((await response.json()) as { error: string }).error;
};

/** Signs in a person who has signed in before, and checks that no new account is created. Waits for a new email with a code. */
const signInAgain = async (email: string, realm: "business" | "consumer"): Promise<void> => {
  const listCodeMails = async (): Promise<readonly { text: string }[]> => {
    const response = await fetch(`${service.origin}/dev/mail?to=${encodeURIComponent(email)}`);
    const { messages } = (await response.json()) as { messages: readonly { text: string }[] };
    return messages.filter(({ text }) => /^\d{6}$/m.test(text));
  };
  const { length: earlier } = await listCodeMails();
  expect(earlier).toBeGreaterThan(0);
  const buildRequest = (body: object) => ({ method: "POST", headers: {}, body: JSON.stringify(body) });
  await getData("/auth/request-code", buildRequest({ email, realm }));
  let mails = await listCodeMails();
  for (; mails.length === earlier; mails = await listCodeMails()) await delay(50);
  const { created } = await getData<{ created: boolean }>("/auth/verify-code", buildRequest({ email, realm, code: findNewestCode(mails) }));
  expect(created).toBe(false);
};

const listSealedColumns = async (): Promise<readonly (readonly [table: string, column: string])[]> => {
  const database = await service.runtime.database();
  const { results: tables } = await database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_cf*'")
    .bind()
    .all<{ name: string }>();
  const columns = await Promise.all(
    tables.map(async ({ name }) => {
      const { results } = await database.prepare("SELECT name FROM pragma_table_info(?)").bind(name).all<{ name: string }>();
      return results.filter((column) => column.name.endsWith("_sealed")).map((column) => [name, column.name] as const);
    }),
  );
  return columns.flat();
};

/** Lists the columns that still contain values wrapped with the first master key. */
const listColumnsUnderFirstKey = async (columns: readonly (readonly [string, string])[]): Promise<readonly string[]> => {
  const database = await service.runtime.database();
  const counts = await Promise.all(
    columns.map(async ([table, column]) => {
      const { results } = await database
        .prepare(`SELECT count(*) AS n FROM ${table} WHERE ${column} GLOB '1.*' OR ${column} GLOB '1-*'`)
        .bind()
        .all<{ n: number }>();
      return results[0]?.n === 0 ? [] : [`${table}.${column}`];
    }),
  );
  return counts.flat();
};

test("the rotation of one signing secret throws if no endpoint has the ID, and does not block the next rotation", async () => {
  const path = join(folder, "unknown-endpoint.rotation.json");
  const replaceSecrets = createReplaceSecretsCall(getApiUrl(), () => service.vars.ADMIN_TOKEN ?? "");
  const webhookId = "whk_00000000000000000000000000";
  const rotation = { statePath: path, webhookId, replaceSecrets, report: () => {} };
  await expect(rotateWebhooks(rotation)).rejects.toThrow(`no endpoint has the ID ${webhookId}`);
  expect(describeWebhookRotation({ statePath: path, webhookId: null })).toContain("every webhook endpoint");
});

describe("the rotation of every key under traffic", () => {
  test("loses nothing, continues after interruptions, and leaves everything readable, searchable and verifiable", {
    timeout: 600_000,
  }, async () => {
    const { results: certificates } = await service.database
      .prepare("SELECT id FROM certificates WHERE environment = 'live' AND business_id = ? ORDER BY ord LIMIT 3")
      .bind(service.world.acme.id)
      .all<{ id: string }>();
    const { webhooks } = await getData<{ webhooks: { id: string }[] }>("/webhooks", { headers: owner });
    const revealedBefore = await Promise.all(
      webhooks.map(({ id }) => getData<{ secret: string }>(`/webhooks/${id}/secret`, { headers: owner })),
    );
    expect(revealedBefore.length).toBeGreaterThan(0);
    const traffic = startTraffic();

    // Publishing the new master key fails once. The repeated command publishes the same key.
    const failing = { ...buildRotationOptions().store, publish: () => Promise.reject(new Error("no network")) };
    await expect(runRotation("master", { ...buildRotationOptions(), store: failing })).rejects.toThrow("no network");
    const prepared = secrets.MASTER_KEYS;
    expect(statSync(statePath).mode & 0o777).toBe(0o600);
    // The rewrapping stops after three steps. The repeated command continues where it stopped.
    let calls = 0;
    const processInterrupted: RotationOptions["processStored"] = (kind, cursor, isCheck) => {
      calls += 1;
      return calls > 3 ? Promise.reject(new Error("interrupted")) : buildRotationOptions().processStored(kind, cursor, isCheck);
    };
    await expect(runRotation("master", { ...buildRotationOptions(), processStored: processInterrupted })).rejects.toThrow("interrupted");
    expect(secrets.MASTER_KEYS).toBe(prepared);
    expect(describeRotation("master", statePath, Date.now())).toContain("next  2.");
    expect(await runRotation("master", buildRotationOptions())).toBe(false);
    expect(await countOutdatedValues("master", buildRotationOptions())).toBe(0);
    expect(listMasterKeyVersions(secrets)).toEqual(["1", "2"]);
    await rotate("master");
    expect(listMasterKeyVersions(secrets)).toEqual(["2"]);
    const sealedColumns = await listSealedColumns();
    expect(sealedColumns.length).toBeGreaterThan(25);
    expect(await listColumnsUnderFirstKey(sealedColumns)).toEqual([]);

    // The index key is rotated with the same interruptions. Between the steps, people sign in again, and a certificate that was issued
    // before the rotation is found by its email address.
    const known = traffic.acknowledged[0] as Acknowledged;
    const person = "rotated@example.com";
    await signInToOrigin(service.origin, person, "consumer");
    const assertFound = async (): Promise<void> => {
      const body = JSON.stringify({ subject_email: known.email });
      const found = await getData<{ certs: { cert_id: string }[] }>("/certs/search", { method: "POST", body });
      expect(found.certs.map(({ cert_id: id }) => id)).toEqual([known.certId]);
      await signInAgain(person, "consumer");
      await signInAgain(service.world.ownerEmail, "business");
    };
    await expect(runRotation("index", { ...buildRotationOptions(), store: failing })).rejects.toThrow("no network");
    const addedIndexKeys = secrets.INDEX_ENCRYPTION_KEYS;
    expect(addedIndexKeys).toMatch(/^index,1:\S+@next$/);
    expect(await runRotation("index", buildRotationOptions())).toBe(false);
    expect(secrets.INDEX_ENCRYPTION_KEYS).toBe(addedIndexKeys);
    await assertFound();
    expect(describeRotation("index", statePath, Date.now())).toContain("next  2.");
    expect(await runRotation("index", buildRotationOptions(11 * minuteMs))).toBe(false);
    expect(secrets.INDEX_ENCRYPTION_KEYS).toBe(addedIndexKeys?.replace("@next", ""));
    await assertFound();
    expect(await countOutdatedValues("index", buildRotationOptions())).toBeGreaterThan(minSubmissions);
    calls = 0;
    await expect(runRotation("index", { ...buildRotationOptions(22 * minuteMs), processStored: processInterrupted })).rejects.toThrow(
      "interrupted",
    );
    expect(await runRotation("index", buildRotationOptions(22 * minuteMs))).toBe(false);
    expect(await countOutdatedValues("index", buildRotationOptions())).toBe(0);
    expect(await runRotation("index", buildRotationOptions(7 * dayMs))).toBe(false);
    expect(await runRotation("index", buildRotationOptions(8 * dayMs + 12 * minuteMs))).toBe(true);
    expect(secrets.INDEX_ENCRYPTION_KEYS).toBe(addedIndexKeys?.slice("index,".length, -"@next".length));
    await assertFound();

    for (const kind of ["issuer", "logs"] as const) {
      await rotate(kind);
      expect(await checkPublishedKeys(kind, secrets, getApiUrl()), kind).toEqual([]);
    }

    // An assistant registers before the link key is rotated. The assistant's secret works until the old key is removed. Then an assistant
    // that registers again gets a secret that works.
    const earlierClient = await registerAssistant();
    const linkOptions = (aheadMs: number): RotationOptions => ({ ...buildRotationOptions(aheadMs), isLeaked: true });
    const checkLinks = async () => checkLinkKeys(secrets, await fetchLinkKeys(getApiUrl(), service.vars.ADMIN_TOKEN ?? ""));
    await expect(runRotation("links", { ...linkOptions(0), store: failing })).rejects.toThrow("no network");
    const addedKeys = secrets.LINK_KEYS;
    expect(addedKeys).toMatch(/^index,1:\S+@next$/);
    expect(await checkLinks()).toHaveLength(1);
    expect(await runRotation("links", linkOptions(0))).toBe(false);
    expect([secrets.LINK_KEYS, await checkLinks()]).toEqual([addedKeys, []]);
    expect(describeRotation("links", statePath, Date.now(), true)).toContain("next  2.");
    expect(await runRotation("links", linkOptions(11 * minuteMs))).toBe(false);
    expect([secrets.LINK_KEYS, await checkLinks()]).toEqual([addedKeys?.replace("@next", ""), []]);
    expect(await useAssistant(earlierClient)).toBe("invalid_grant");
    expect(await runRotation("links", linkOptions(12 * minuteMs))).toBe(false);
    expect(await runRotation("links", buildRotationOptions(729 * dayMs))).toBe(false);
    expect(await runRotation("links", linkOptions(22 * minuteMs))).toBe(true);
    expect([secrets.LINK_KEYS, await checkLinks()]).toEqual([addedKeys?.slice("index,".length, -"@next".length), []]);
    expect(await useAssistant(earlierClient)).toBe("invalid_client");
    expect(await useAssistant(await registerAssistant())).toBe("invalid_grant");

    // The operator replaces the signing secrets of all endpoints. The first response is lost after the service has replaced them. Repeating
    // the command does not replace them again.
    const revealSecrets = (): Promise<readonly { secret: string }[]> =>
      Promise.all(webhooks.map(({ id }) => getData<{ secret: string }>(`/webhooks/${id}/secret`, { headers: owner })));
    const replaceSecrets = createReplaceSecretsCall(getApiUrl(), () => service.vars.ADMIN_TOKEN ?? "");
    const replaceAndLoseResponse: ReplaceSecrets = async (request) => {
      const result = await replaceSecrets(request);
      if (!request.isCheck) throw new Error("no answer");
      return result;
    };
    const webhookRotation = { statePath, webhookId: null, replaceSecrets, report: () => {} };
    await expect(rotateWebhooks({ ...webhookRotation, replaceSecrets: replaceAndLoseResponse })).rejects.toThrow("no answer");
    const replaced = await revealSecrets();
    for (const [at, { secret }] of replaced.entries()) expect(secret).not.toBe(revealedBefore[at]?.secret);
    expect((await checkWebhookRotation(webhookRotation)).isComplete).toBe(true);
    expect(() => describeWebhookRotation({ statePath, webhookId: webhooks[0]?.id ?? "" })).toThrow("is not complete");
    expect(await rotateWebhooks(webhookRotation)).toBe(true);
    expect(await revealSecrets()).toEqual(replaced);

    // The owner rotates the signing secret of an endpoint.
    const [endpoint] = webhooks;
    const rotated = await getData<{ secret: string }>(`/webhooks/${endpoint?.id}/rotate-secret`, {
      method: "POST",
      headers: owner,
    });
    await traffic.stop();
    await service.runtime.scheduled("* * * * *");
    expect(traffic.acknowledged.length).toBeGreaterThanOrEqual(minSubmissions);

    const stored = await (await service.runtime.database())
      .prepare("SELECT count(*) AS n FROM certificates WHERE id IN (SELECT value FROM json_each(?))")
      .bind(JSON.stringify(traffic.acknowledged.map(({ certId }) => certId)))
      .all<{ n: number }>();
    expect(stored.results).toEqual([{ n: traffic.acknowledged.length }]);
    const sample = [...traffic.acknowledged.slice(0, 5), ...traffic.acknowledged.slice(-5)];
    for (const { certId, email } of sample) {
      expect((await getData<{ status: string }>(`/certs/${certId}/verify`)).status).toBe("active");
      expect(JSON.stringify(await getData(`/certs/${certId}`))).toContain(email);
    }
    for (const { certId, email } of sample) {
      const found = await getData<{ certs: { cert_id: string }[] }>("/certs/search", {
        method: "POST",
        body: JSON.stringify({ subject_email: email }),
      });
      expect(found.certs.map(({ cert_id: id }) => id)).toEqual([certId]);
    }
    const trust = trustOf(await (await fetch(`${service.origin}/.well-known/svc-trust.json`)).json());
    const packs = [...certificates.map(({ id }) => id), ...traffic.acknowledged.slice(-2).map(({ certId }) => certId)];
    for (const id of packs) {
      const pack = await fetch(`${getApiUrl()}/certs/${id}/evidence-pack?format=zip`, { headers: buildHeaders() });
      const { failed } = await verifyPack(new Uint8Array(await pack.arrayBuffer()), { ...defaultVerificationOptions, trust });
      expect(failed, id).toBeNull();
    }
    const revealedAfter = await revealSecrets();
    expect(revealedAfter[0]?.secret).toBe(rotated.secret);
    expect(revealedAfter.slice(1)).toEqual(replaced.slice(1));
  });
});
