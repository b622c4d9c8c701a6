// Tests the month of demo data that `npm start` writes, as users see it: in the API, in the portal and in evidence packs.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dayMs } from "../../core/time.ts";
import { prepareDemoData } from "../../scripts/demo-data.ts";
import { createDemoWorld } from "../../scripts/demo-world.ts";
import { buildLocalSettings, generateDevVars } from "../../scripts/settings.ts";
import { signInToOrigin } from "../support/local-session.ts";
import { startLocalService, startServiceForFile } from "../support/local-service.ts";

interface Certificate {
  readonly cert_id: string;
  readonly status: string;
  readonly issued_at: string;
  readonly view_count: number;
  readonly entities_accepted?: readonly string[];
  readonly withdrawal: { readonly overdue: boolean; readonly cease_by: string; readonly cease_acknowledged_at: string | null } | null;
}

interface Event {
  readonly type: string;
  readonly created_at: string;
}

interface Delivery {
  readonly event_type: string;
  readonly status: string;
  readonly attempt: number;
}

const folder = mkdtempSync(join(tmpdir(), "svc-demo-month-test-"));
const service = await startServiceForFile({}, "month");
let owner: { readonly cookie: string };
let keysAtStart: readonly { readonly environment: string; readonly last_used_at: string | null }[]; // before the tests use the keys

const getData = async <T>(path: string, headers: Readonly<Record<string, string>> = useKey()): Promise<T> => {
  const response = await fetch(`${service.origin}${path}`, { headers });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { readonly data: T }).data;
};

const useKey = (environment: "live" | "sandbox" = "live") => ({ authorization: `Bearer ${service.world.acme.keys[environment]}` });

const listCertificates = async (environment: "live" | "sandbox" = "live"): Promise<readonly Certificate[]> => {
  const all: Certificate[] = [];
  for (let page = 1; ; page += 1) {
    const { certs } = await getData<{ certs: readonly Certificate[] }>(`/v1/certs?per_page=100&page=${page}`, useKey(environment));
    all.push(...certs);
    if (certs.length < 100) return all;
  }
};

const listEvents = async (): Promise<readonly Event[]> =>
  (await getData<{ events: readonly Event[] }>("/v1/events?cursor=0&limit=500")).events;

const countTypes = (all: readonly { readonly type: string }[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const { type } of all) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
};

beforeAll(async () => {
  owner = { cookie: await signInToOrigin(service.origin, service.world.ownerEmail) };
  ({ keys: keysAtStart } = await getData<{ keys: typeof keysAtStart }>("/v1/business/portal/keys", owner));
}, 240_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe("the demo month", () => {
  test("contains 30 days of certificates, some of which were viewed, and some of which decline all recipients", async () => {
    const certificates = await listCertificates();
    expect(certificates.length).toBeGreaterThan(150);
    const ages = certificates.map(({ issued_at }) => Date.now() - Date.parse(issued_at));
    expect(Math.max(...ages)).toBeGreaterThan(28 * dayMs);
    expect(Math.max(...ages)).toBeLessThan(31 * dayMs);
    expect(Math.min(...ages)).toBeGreaterThan(0);
    expect(certificates.filter(({ view_count }) => view_count > 0).length).toBeGreaterThan(10);
    expect(certificates.filter(({ entities_accepted }) => entities_accepted?.length === 0).length).toBeGreaterThan(0);
    expect((await listCertificates("sandbox")).length).toBe(8);
  });

  test("has captured policies for each certificate, so that no job captures them after the start", async () => {
    const { cert_id } = (await listCertificates()).at(-1) as Certificate;
    const { policies_status } = await getData<{ policies_status: string }>(`/v1/certs/${cert_id}`);
    expect(policies_status).toBe("captured");
  });

  test("contains withdrawals that were acknowledged on time, one that is overdue, and pending ones", async () => {
    const withdrawals = (await listCertificates()).flatMap(({ withdrawal }) => withdrawal ?? []);
    const acknowledged = withdrawals.filter(({ cease_acknowledged_at }) => cease_acknowledged_at !== null);
    expect(acknowledged.length).toBe(11);
    expect(acknowledged.filter((one) => String(one.cease_acknowledged_at) > one.cease_by)).toEqual([]);
    expect(withdrawals.filter(({ overdue }) => overdue).length).toBe(1);
    expect(withdrawals.length).toBe(15);
    const page = await (await fetch(`${service.origin}/portal/deadlines`, { headers: owner })).text();
    const open = [...page.matchAll(/href="\/portal\/(certificates|shares)\/(?:cc|shr)_[0-9a-z]+"/g)].map(([, type]) => ({
      type: type ?? "",
    }));
    expect(countTypes(open)).toEqual({ certificates: 5, shares: 1 });
  });

  test("contains shares that are active, stopped, acknowledged and expired, and one that expires within a week", async () => {
    const { shares } = await getData<{ shares: readonly { status: string; expires_at: string }[] }>("/v1/shares?per_page=100", useKey());
    expect(countTypes(shares.map(({ status }) => ({ type: status })))).toEqual({ active: 6, revoked: 1, ceased: 1, expired: 1 });
    const soon = shares.filter(({ status, expires_at }) => status === "active" && Date.parse(expires_at) - Date.now() < 7 * dayMs);
    expect(soon.length).toBe(1);
  });

  test("numbers its events in the order in which they happened", async () => {
    const events = await listEvents();
    expect(countTypes(events)).toEqual({
      "certificate.revoked": 15,
      "business.ceased": 12,
      "share.created": 9,
      "share.expiring": 3,
      "share.expired": 1,
      "share.revoked": 2,
      "consumer.updated.name": 1,
      "consumer.updated.phone": 7,
    });
    const times = events.map(({ created_at }) => created_at);
    expect(times).toEqual(times.toSorted());
  });

  test("has a live key that was last used for the newest acknowledgment", async () => {
    const acknowledged = (await listEvents()).filter(({ type }) => type === "business.ceased");
    const day = acknowledged.at(-1)?.created_at.slice(0, 10) ?? "none";
    expect(keysAtStart.find(({ environment }) => environment === "live")?.last_used_at?.slice(0, 10)).toBe(day);
  });

  test("has verified domains that were checked in the last week", async () => {
    const { domains } = await getData<{ domains: readonly { status: string; checked_at: string | null }[] }>(
      "/v1/business/portal/domains",
      owner,
    );
    const ages = domains.filter(({ status }) => status === "verified").map(({ checked_at }) => Date.now() - Date.parse(checked_at ?? ""));
    expect(ages.length).toBeGreaterThan(1);
    expect(Math.max(...ages)).toBeLessThan(7 * dayMs);
  });

  test("delivered its events to two endpoints, one of which failed for an hour", async () => {
    const { webhooks } = await getData<{ webhooks: readonly { id: string; url: string }[] }>("/v1/webhooks", owner);
    expect(webhooks.map(({ url }) => new URL(url).pathname).toSorted()).toEqual(["/webhooks/crm", "/webhooks/dialer"]);
    const attemptsByPath = new Map<string, readonly number[]>();
    for (const { id, url } of webhooks) {
      const { deliveries } = await getData<{ deliveries: readonly Delivery[] }>(`/v1/webhooks/${id}/deliveries?limit=100`, owner);
      expect(deliveries.filter(({ status }) => status !== "success")).toEqual([]);
      attemptsByPath.set(
        new URL(url).pathname,
        deliveries.map(({ attempt }) => attempt),
      );
    }
    expect(attemptsByPath.get("/webhooks/crm")?.filter((attempt) => attempt > 1).length).toBeGreaterThanOrEqual(5);
    expect(attemptsByPath.get("/webhooks/dialer")?.filter((attempt) => attempt > 1)).toEqual([]);
  });

  test("delivers new events to the demo website", async () => {
    const { webhooks } = await getData<{ webhooks: readonly { id: string }[] }>("/v1/webhooks", owner);
    const responses = await Promise.all(
      webhooks.map(({ id }) =>
        fetch(`${service.origin}/v1/webhooks/${id}/test`, { method: "POST", headers: { ...owner, origin: service.origin } }),
      ),
    );
    const results = await Promise.all(
      responses.map(async (response) => ((await response.json()) as { data: { delivered: boolean } }).data),
    );
    expect(results.map(({ delivered }) => delivered)).toEqual([true, true]);
  });

  test("has certificates whose evidence passes the verifier once the logs have them", async () => {
    await service.runtime.scheduled("* * * * *");
    const save = async (name: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<string> => {
      const response = await fetch(`${service.origin}${path}`, { headers });
      expect(response.status).toBe(200);
      writeFileSync(join(folder, name), new Uint8Array(await response.arrayBuffer()));
      return join(folder, name);
    };
    const trust = await save("trust.json", "/.well-known/svc-trust.json");
    const verifier = await save("svc-verify.mjs", "/svc-verify.mjs");
    const certificates = await listCertificates();
    const oldest = certificates.at(-1) as Certificate;
    const withdrawn = certificates.find(({ withdrawal }) => withdrawal?.cease_acknowledged_at != null) as Certificate;
    for (const { cert_id } of [oldest, withdrawn]) {
      const pack = await save(`${cert_id}.zip`, `/v1/certs/${cert_id}/evidence-pack?format=zip`, useKey());
      const { status, stdout } = spawnSync(process.execPath, [verifier, pack, "--trust", trust], { encoding: "utf8" });
      expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining(cert_id) });
    }
  });

  test("is written by the first start, when there are no databases yet, even if limits are low", async () => {
    const vars = {
      ...generateDevVars(),
      LIMIT_GRANTS: "1/99999",
      LIMIT_CLIENT_DAY: "1",
      LIMIT_EXPORTS: "1/99999",
      DEV_RATE_SCALE: "0.001",
      DEV_SHARD_BYTES: "1",
    };
    const settings = buildLocalSettings({ port: 0, demoPort: 1, stateDir: join(folder, "new"), vars });
    const world = createDemoWorld(settings.vars.ISSUER_KEY as string);
    const month = await prepareDemoData(settings, world, { isEmpty: false });
    expect(month?.certificates).toBeGreaterThan(150);
  }, 240_000);

  test("is not written again if the business already has certificates, and not at all by an empty start", async () => {
    const settings = buildLocalSettings({ port: 0, demoPort: 1, stateDir: join(folder, "state"), vars: generateDevVars() });
    const world = createDemoWorld(settings.vars.ISSUER_KEY as string);
    expect(await prepareDemoData(settings, world, { isEmpty: true })).toBeNull();
    expect((await prepareDemoData(settings, world, { isEmpty: false }))?.certificates).toBeGreaterThan(150);
    expect(await prepareDemoData(settings, world, { isEmpty: false })).toBeNull();
  }, 240_000);
});

test("an empty start creates accounts and no records", async () => {
  const empty = await startLocalService();
  try {
    const headers = { authorization: `Bearer ${empty.world.acme.keys.live}` };
    for (const [path, list] of [
      ["/v1/certs", "certs"],
      ["/v1/shares", "shares"],
      ["/v1/events?cursor=0", "events"],
    ] as const) {
      const { data } = (await (await fetch(`${empty.origin}${path}`, { headers })).json()) as { data: Record<string, unknown> };
      expect(data[list]).toEqual([]);
    }
  } finally {
    await empty.stop();
  }
});
