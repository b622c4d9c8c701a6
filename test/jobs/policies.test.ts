// Tests policy snapshots from the form to the certificate page: when and how often policies are captured, for which certificates, and which
// failures do not stop the capture.
import { env, exports } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { dayMs, minuteMs, secondMs } from "../../core/time.ts";
import type { BusinessId } from "../../core/ids.ts";
import { openDatabase } from "../../storage/database.ts";
import { claimPolicyPage, endPolicyTurn } from "../../storage/policy-pages.ts";
import { capturePolicies } from "../../workers/background/policy-capture.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import { deleteExpiredTestRecords } from "../../workers/background/sandbox-sweep.ts";
import { everyMinute, runScheduledJobs } from "../../workers/background/schedule.ts";
import { trustOf } from "../../verifier/trust.ts";
import { defaultVerificationOptions, verifyPack } from "../../verifier/verify-pack.ts";
import type { Log } from "../../workers/log.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import {
  createPlatformAt,
  queryRows,
  runCapture,
  getPublicPolicies,
  getPoliciesWithText,
  issueWaitingCertificate,
} from "../support/policy-world.ts";
import { createHtmlResponse, redirectResponse, createStubWeb, type StubWeb } from "../support/stub-web.ts";
import { submitConsent, buildSubmission, getWithKey, world } from "../support/world.ts";

const certificatesWithOrigin = "(SELECT c.*, g.origin_domain FROM certificates c JOIN certificate_groups g ON g.id = c.group_id)";

const publicAddress = ["93.184.216.34", "2606:2800:220:1::1"];
const footer = '<footer><a href="/privacy">Privacy policy</a> <a href="/terms">Terms of service</a></footer>';
let web: StubWeb;
let hosts = 0;
let host = "";

const silentLog: Log = { request: () => {}, error: () => {}, progress: () => {}, metric: () => {} };

const interceptBatches = (before: (statements: D1PreparedStatement[]) => Promise<void>): D1Database =>
  new Proxy(env.DB, {
    get: (target, name) => {
      const value = Reflect.get(target, name);
      if (name === "batch") {
        return async (statements: D1PreparedStatement[]) => {
          await before(statements);
          return target.batch(statements);
        };
      }
      return typeof value === "function" ? value.bind(target) : value;
    },
  });

/** Serves a site with a form, a policy and terms. Each test uses its own domain. */
beforeEach(() => {
  web = createStubWeb();
  hosts += 1;
  host = `site-${hosts}.example.com`;
  web.resolve(host, publicAddress);
  web.serve(`https://${host}/`, `<title>Acme</title>${footer}`);
  web.serve(`https://${host}/quote`, `<title>Quote</title><form></form>${footer}`);
  web.serve(`https://${host}/privacy`, "<h1>Privacy</h1><p>We keep little.</p>");
  web.serve(`https://${host}/terms`, "<h1>Terms</h1><p>Be kind.</p>");
});
afterEach(async () => {
  vi.restoreAllMocks();
  await env.DB.batch([
    env.DB.prepare("DROP TRIGGER IF EXISTS broken"),
    env.DB.prepare("UPDATE certificates SET policy_page_id = NULL"),
    env.DB.prepare("DELETE FROM policy_pages"),
    env.DB.prepare("DELETE FROM policy_turns"),
  ]);
});

const privacyHash = sha256Hex("Privacy\nWe keep little.");
const termsHash = sha256Hex("Terms\nBe kind.");
const listLinkedEntries = (certId: string) =>
  queryRows("SELECT id FROM audit_entries WHERE type = 'policy.linked' AND entity_id = ?", certId);
const buildOrigin = (name: string): string => `https://${name}`;
/** Returns the host's pages that wait for a capture. */
const listWaitingRows = () =>
  queryRows<{ next_at: number; attempts: number }>("SELECT * FROM policy_pages WHERE origin = ? ORDER BY ord", buildOrigin(host));
/** Adds copies of a certificate. The copies wait for a capture of the same page. */
const copyCertificate = async (certId: string, count: number): Promise<void> => {
  const names = await queryRows<{ name: string }>("SELECT name FROM pragma_table_info('certificates') WHERE name NOT IN ('ord', 'id')");
  const columns = names.map(({ name }) => name).join(", ");
  await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
     INSERT INTO certificates (id, ${columns}) SELECT printf('cc_00%s%017d', substr(id, 6, 7), i), ${columns} FROM n, certificates WHERE id = ?1`,
  )
    .bind(certId, count)
    .run();
};
const waitFor = async (what: () => Promise<boolean>): Promise<void> => {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (await what()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("it did not happen within 4 s");
};

describe("issuing a certificate", () => {
  test("shows the policies of its origin soon after the response", async () => {
    const response = await submitConsent(
      { ...buildSubmission(), page_url: `https://${host}/quote?email=pat@example.com` },
      { origin: `https://${host}` },
    );
    expect(response.status).toBe(201);
    const { cert_id } = response.body.data;
    await waitFor(async () => (await getPublicPolicies(cert_id)).status !== "pending");
    const { status, policies } = await getPublicPolicies(cert_id);
    expect(status).toBe("captured");
    expect(policies.map(({ kind, source_url, content_hash }) => ({ kind, source_url, content_hash }))).toEqual([
      { kind: "privacy", source_url: `https://${host}/privacy`, content_hash: privacyHash },
      { kind: "terms", source_url: `https://${host}/terms`, content_hash: termsHash },
    ]);
    expect(policies[0]?.id).toMatch(/^pol_00[0-9a-hjkmnp-tv-z]{24}$/);
    expect(policies[0]?.captured_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(policies[0]).not.toHaveProperty("text");
    expect((await getPoliciesWithText(cert_id)).map(({ text }) => text)).toEqual(["Privacy\nWe keep little.", "Terms\nBe kind."]);
  });

  test("is not delayed by a policy host that hangs", async () => {
    const held = Promise.withResolvers<Response>();
    web.serve(`https://${host}/`, () => held.promise);
    const response = await submitConsent({ ...buildSubmission(), page_url: `https://${host}/quote` }, { origin: `https://${host}` });
    expect(response.status).toBe(201);
    await waitFor(async () => web.urls().includes(`https://${host}/`));
    expect((await getPublicPolicies(response.body.data.cert_id)).status).toBe("pending");
    const next = await submitConsent({ ...buildSubmission(), page_url: `https://${host}/quote` }, { origin: `https://${host}` });
    expect(next.status).toBe(201);
    held.resolve(createHtmlResponse(footer));
    await waitFor(async () => (await getPublicPolicies(next.body.data.cert_id)).status === "captured");
  });

  test("leaves the captures of a crashed process to the cron job", async () => {
    const certId = await issueWaitingCertificate(host);
    expect((await getPublicPolicies(certId)).status).toBe("pending");
    await runScheduledJobs(await getPlatform(env), everyMinute, Date.now());
    expect((await getPublicPolicies(certId)).status).toBe("captured");
  });

  test("succeeds while snapshots cannot be written, and the snapshots are written later", async () => {
    await env.DB.prepare("CREATE TRIGGER broken BEFORE INSERT ON policy_snapshots BEGIN SELECT RAISE(ABORT, 'injected fault'); END").run();
    const certId = await issueWaitingCertificate(host);
    await runCapture(0, { log: silentLog });
    expect(web.urls()).toContain(`https://${host}/terms`);
    expect((await getPublicPolicies(certId)).status).toBe("pending");
    // A failure of the service itself does not count as an attempt.
    expect((await listWaitingRows()).map(({ attempts }) => attempts)).toEqual([0]);
    await issueWaitingCertificate(host);
    await env.DB.prepare("DROP TRIGGER broken").run();
    await runCapture(61 * secondMs);
    expect((await getPublicPolicies(certId)).status).toBe("captured");
  });
});

describe("a policy capture", () => {
  test("is made without query, cookie, credential or referrer, with its own user agent", async () => {
    await issueWaitingCertificate(host, "/quote?email=pat%40example.com");
    await runCapture();
    expect(web.urls()).toEqual([`https://${host}/`, `https://${host}/privacy`, `https://${host}/terms`]);
    for (const { headers, redirect } of web.calls) {
      expect(headers.get("user-agent")).toBe("Svc-Policies/1");
      expect(["cookie", "authorization", "referer", "origin"].filter((name) => headers.has(name))).toEqual([]);
      expect(redirect).toBe("manual");
    }
  });

  test("is linked to every certificate that waits for the domain", async () => {
    const certIds = [
      await issueWaitingCertificate(host),
      await issueWaitingCertificate(host, "/other"),
      await issueWaitingCertificate(host),
    ];
    await runCapture();
    for (const certId of certIds)
      expect((await getPublicPolicies(certId)).policies.map((policy) => policy.content_hash)).toEqual([privacyHash, termsHash]);
    expect(web.calls).toHaveLength(3);
    expect(await listWaitingRows()).toEqual([]);
  });

  test("is reused for 15 minutes", async () => {
    await issueWaitingCertificate(host);
    await runCapture();
    const soon = await issueWaitingCertificate(host, "/quote", 14 * minuteMs);
    expect((await getPublicPolicies(soon)).status).toBe("captured"); // the certificate gets the earlier capture immediately
    await runCapture(14 * minuteMs);
    expect(web.calls).toHaveLength(3);
    const laterCertId = await issueWaitingCertificate(host, "/quote", 16 * minuteMs);
    expect((await getPublicPolicies(laterCertId)).status).toBe("pending");
    await runCapture(16 * minuteMs);
    expect(web.calls).toHaveLength(6);
  });

  test("reuses the snapshot of an unchanged text", async () => {
    const first = await issueWaitingCertificate(host);
    await runCapture();
    const second = await issueWaitingCertificate(host, "/quote", 16 * minuteMs);
    web.serve(`https://${host}/privacy`, "<main>\n<h1> Privacy </h1>\n\n<p>We   <b>keep</b>&nbsp;little.<script>now()</script></p></main>");
    await runCapture(16 * minuteMs);
    expect((await getPublicPolicies(second)).policies).toEqual((await getPublicPolicies(first)).policies);
    expect(await queryRows("SELECT id FROM policy_snapshots WHERE domain = ?", host)).toHaveLength(2);
  });

  test("makes a new snapshot of a changed text, and earlier certificates keep theirs", async () => {
    const first = await issueWaitingCertificate(host);
    await runCapture();
    const before = await getPoliciesWithText(first);
    const second = await issueWaitingCertificate(host, "/quote", 16 * minuteMs);
    web.serve(`https://${host}/privacy`, "<h1>Privacy</h1><p>We keep much.</p>");
    await runCapture(16 * minuteMs);
    const [privacy, terms] = await getPoliciesWithText(second);
    expect(privacy?.text).toBe("Privacy\nWe keep much.");
    expect(privacy?.id).not.toBe(before[0]?.id);
    expect(terms).toEqual(before[1]);
    expect(await getPoliciesWithText(first)).toEqual(before);
  });

  test("of a site without policies is stored as a capture without policies", async () => {
    web.serve(`https://${host}/`, "<h1>Acme</h1>");
    web.serve(`https://${host}/quote`, "<form></form>");
    web.serve(`https://${host}/privacy`, () => createHtmlResponse("gone", { status: 404 }));
    web.serve(`https://${host}/terms`, () => createHtmlResponse("gone", { status: 410 }));
    const certId = await issueWaitingCertificate(host);
    await runCapture();
    expect(await getPublicPolicies(certId)).toEqual({ status: "unavailable", policies: [] });
    const soon = await issueWaitingCertificate(host, "/quote", minuteMs);
    expect((await getPublicPolicies(soon)).status).toBe("unavailable");
    expect(web.calls.length).toBeLessThanOrEqual(12);
  });

  test("adds one audit entry per certificate to the business's chain", async () => {
    const certId = await issueWaitingCertificate(host);
    await runCapture();
    await runCapture();
    expect(await listLinkedEntries(certId)).toHaveLength(1);
  });

  test("is proven by the packs of all certificates that use it, with its URLs and times", async () => {
    const first = await issueWaitingCertificate(host);
    await runCapture();
    const shared = await issueWaitingCertificate(host);
    expect((await getPublicPolicies(shared)).status).toBe("captured");
    const trust = trustOf((await getWithKey("/.well-known/svc-trust.json")).body);
    for (const certId of [first, shared, shared]) {
      const headers = { authorization: `Bearer ${world.acme.keys.live}` };
      const pack = await exports.default.fetch(new Request(`http://svc.test/v1/certs/${certId}/evidence-pack?format=zip`, { headers }));
      const report = await verifyPack(new Uint8Array(await pack.arrayBuffer()), { ...defaultVerificationOptions, trust });
      expect(report.failed).toBeNull();
      expect(report.checks.find(({ id }) => id === "audit.policies")).toMatchObject({ outcome: "pass" });
      expect(await listLinkedEntries(certId)).toHaveLength(1);
    }
    const { policies } = await getPublicPolicies(shared);
    const { entries } = (await getWithKey(`/v1/certs/${shared}/evidence-pack`, world.acme.keys.live)).body.data.audit;
    const { payload } = (entries as { type: string; payload: object }[]).find(({ type }) => type === "policy.linked")!;
    const findSource = (kind: string) => {
      const { id, source_url, captured_at } = policies.find((policy) => policy.kind === kind)!;
      return { id, source_url, captured_at };
    };
    expect(payload).toMatchObject({ sources: { privacy: findSource("privacy"), terms: findSource("terms") } });
  });

  test("in one shard does not affect the other", async () => {
    await issueWaitingCertificate(host);
    await runCapture();
    expect(
      (await env.DB_01.prepare("SELECT count(*) AS n FROM policy_captures WHERE domain = ?").bind(host).first<{ n: number }>())?.n,
    ).toBe(0);
  });
});

describe("a domain that does not respond", () => {
  const serveUnavailable = (): void => {
    for (const path of ["/quote", "/"]) web.serve(`https://${host}${path}`, () => createHtmlResponse("busy", { status: 503 }));
  };

  test("is tried again less and less often, and after eight captures the certificate shows no policies", async () => {
    serveUnavailable();
    const certId = await issueWaitingCertificate(host);
    let at = 0;
    for (const wait of [0, 10, 20, 40, 80, 160, 320, 640]) {
      expect((await getPublicPolicies(certId)).status).toBe("pending");
      const before = web.calls.length;
      if (wait > 0) await runCapture(at + (wait - 3) * secondMs);
      expect(web.calls.length).toBe(before); // the capture is not due yet
      at += wait * secondMs;
      await runCapture(at);
      expect(web.calls.length).toBe(before + 2);
    }
    expect(await getPublicPolicies(certId)).toEqual({ status: "unavailable", policies: [] });
    expect(await listWaitingRows()).toEqual([]);
  });

  test("is not tried more often because more certificates wait for it", async () => {
    serveUnavailable();
    await issueWaitingCertificate(host);
    await runCapture();
    for (let n = 0; n < 5; n += 1) {
      await issueWaitingCertificate(host);
      await runCapture();
    }
    expect(web.calls).toHaveLength(2);
    expect((await listWaitingRows()).map(({ attempts }) => attempts)).toEqual([1]);
  });

  test("costs one row, and one request at a time, for 1,000 waiting certificates", async () => {
    serveUnavailable();
    const certIds = [await issueWaitingCertificate(host), await issueWaitingCertificate(host)];
    await copyCertificate(certIds[0] as string, 998);
    const countWaitingCertificates = async (): Promise<number | undefined> =>
      (
        await queryRows<{ n: number }>(
          `SELECT COUNT(*) AS n FROM ${certificatesWithOrigin} WHERE origin_domain = ? AND policy_page_id IS NOT NULL`,
          host,
        )
      )[0]?.n;
    const readOtherRows = () =>
      queryRows(
        `SELECT (SELECT COUNT(*) FROM changes WHERE entity_id IN (SELECT id FROM ${certificatesWithOrigin} WHERE origin_domain = ?1)) AS changes,
           (SELECT COUNT(*) FROM audit_entries WHERE entity_id IN (SELECT id FROM ${certificatesWithOrigin} WHERE origin_domain = ?1)) AS entries,
           (SELECT COUNT(*) FROM policy_captures WHERE domain = ?1) AS captures`,
        host,
      );
    const before = await readOtherRows();
    for (const [attempt, at] of [0, 10, 30, 70].entries()) {
      await runCapture(at * secondMs);
      expect((await listWaitingRows()).map(({ attempts }) => attempts)).toEqual([attempt + 1]);
      expect(web.calls).toHaveLength(2 * (attempt + 1));
      expect(await readOtherRows()).toEqual(before);
    }
    expect(await countWaitingCertificates()).toBe(1_000);

    web.serve(`https://${host}/quote`, footer);
    await runCapture(150 * secondMs);
    expect(await countWaitingCertificates()).toBe(0);
    expect(await listWaitingRows()).toEqual([]);
    for (const certId of certIds) {
      expect((await getPublicPolicies(certId)).status).toBe("captured");
      expect(await listLinkedEntries(certId)).toHaveLength(1);
    }
  });

  test("is captured for all waiting certificates when it responds again", async () => {
    serveUnavailable();
    const first = await issueWaitingCertificate(host);
    await runCapture();
    const second = await issueWaitingCertificate(host);
    web.serve(`https://${host}/quote`, footer);
    await runCapture(11 * secondMs);
    expect((await getPublicPolicies(first)).status).toBe("captured");
    expect((await getPublicPolicies(second)).status).toBe("captured");
  });

  test("delays no other domain", async () => {
    serveUnavailable();
    await issueWaitingCertificate(host);
    const other = `other-${host}`;
    web.resolve(other, publicAddress);
    web.serve(`https://${other}/quote`, footer);
    web.serve(`https://${other}/privacy`, "Privacy");
    const certId = await issueWaitingCertificate(other);
    await runCapture();
    expect((await getPublicPolicies(certId)).status).toBe("captured");
  });

  test("is tried first when it has been due longest", async () => {
    const now = (await createPlatformAt()).clock();
    for (const [name, dueAt] of [
      ["b", 2],
      ["a", 1],
      ["c", 3],
    ] as const) {
      await issueWaitingCertificate(`${name}-${host}`);
      await env.DB.prepare("UPDATE policy_pages SET next_at = ? WHERE origin = ?")
        .bind(dueAt, buildOrigin(`${name}-${host}`))
        .run();
    }
    const db = openDatabase(env.DB);
    const origins: unknown[] = [];
    for (let claimed = await claimPolicyPage(db, now); claimed !== null; claimed = await claimPolicyPage(db, now)) {
      origins.push(claimed.location?.origin);
      await endPolicyTurn(db, claimed.businessId, now);
    }
    expect(origins).toEqual([`https://a-${host}`, `https://b-${host}`, `https://c-${host}`]);
  });

  test("is tried again for a missing policy, and the last capture accepts whatever exists", async () => {
    web.serve(`https://${host}/terms`, () => createHtmlResponse("busy", { status: 500 }));
    const certId = await issueWaitingCertificate(host);
    await runCapture();
    expect((await getPublicPolicies(certId)).status).toBe("pending");
    await env.DB.prepare("UPDATE policy_pages SET attempts = 7 WHERE origin = ?").bind(buildOrigin(host)).run();
    await runCapture(11 * secondMs);
    expect((await getPublicPolicies(certId)).policies.map(({ kind }) => kind)).toEqual(["privacy"]);
  });
});

describe("crashes and concurrent runs", () => {
  test("two concurrent relays capture once and link once", async () => {
    const certIds = [await issueWaitingCertificate(host), await issueWaitingCertificate(host), await issueWaitingCertificate(host)];
    await Promise.all([runCapture(), runCapture(), runCapture(), runCapture()]);
    expect(web.calls).toHaveLength(3);
    for (const certId of certIds) expect(await listLinkedEntries(certId)).toHaveLength(1);
  });

  test("a worker whose lease was taken over changes nothing that the other did", async () => {
    const certIds = [await issueWaitingCertificate(host), await issueWaitingCertificate(host)];
    let overtaken = false;
    web.serve(`https://${host}/terms`, async () => {
      if (!overtaken) {
        overtaken = true;
        await runCapture(61 * secondMs); // by then the first worker's lease has expired, and another worker takes over
      }
      return createHtmlResponse("<h1>Terms</h1><p>Be kind.</p>");
    });
    await runCapture();
    for (const certId of certIds) {
      expect((await getPublicPolicies(certId)).policies.map((policy) => policy.content_hash)).toEqual([privacyHash, termsHash]);
      expect(await listLinkedEntries(certId)).toHaveLength(1);
    }
    expect(await queryRows("SELECT id FROM policy_snapshots WHERE domain = ?", host)).toHaveLength(2);
    expect(await listWaitingRows()).toEqual([]);
  });

  test("only one of two workers links the same certificates", async () => {
    const certIds = [await issueWaitingCertificate(host), await issueWaitingCertificate(host)];
    let overtaken = false;
    const db = interceptBatches(async () => {
      if (overtaken) return;
      overtaken = true;
      await runCapture(61 * secondMs); // runs after the waiting certificates are read but before they are linked
    });
    await capturePolicies(await createPlatformAt(), openDatabase(db));
    expect(overtaken).toBe(true);
    for (const certId of certIds) {
      expect((await getPublicPolicies(certId)).status).toBe("captured");
      expect(await listLinkedEntries(certId)).toHaveLength(1);
    }
    expect(await listWaitingRows()).toEqual([]);
  });

  test("a linked certificate is never linked to another capture", async () => {
    const certId = await issueWaitingCertificate(host);
    await runCapture();
    const relink = env.DB.prepare("UPDATE certificates SET policy_capture_id = NULL WHERE id = ?").bind(certId).run();
    await expect(relink).rejects.toThrow("policies can be linked to a certificate only once");
  });

  test("a capture is repeated after its process died", async () => {
    const certId = await issueWaitingCertificate(host);
    const died = { fetchPage: () => new Promise<never>(() => {}) };
    void runCapture(0, died);
    await waitFor(async () => (await listWaitingRows())[0]?.attempts === 1);
    await runCapture(45 * secondMs);
    expect((await getPublicPolicies(certId)).status).toBe("pending");
    await runCapture(61 * secondMs);
    expect((await getPublicPolicies(certId)).status).toBe("captured");
  });

  test("a capture that always crashes its process is abandoned", async () => {
    const certId = await issueWaitingCertificate(host);
    await env.DB.prepare("UPDATE policy_pages SET attempts = 8 WHERE origin = ?").bind(buildOrigin(host)).run();
    await runCapture();
    expect(web.calls).toEqual([]);
    expect((await getPublicPolicies(certId)).status).toBe("unavailable");
  });

  test("texts that cannot be stored leave no rows that refer to them", async () => {
    const certId = await issueWaitingCertificate(host);
    const kv = { ...env.KV, put: () => Promise.reject(new Error("KV PUT failed: 500")) } as unknown as KVNamespace;
    await runCapture(0, { kv, log: silentLog });
    expect((await getPublicPolicies(certId)).status).toBe("pending");
    expect(await queryRows("SELECT id FROM policy_snapshots WHERE domain = ?", host)).toEqual([]);
    await runCapture(61 * secondMs);
    expect((await getPublicPolicies(certId)).status).toBe("captured");
  });

  test("linking that stops halfway continues with the same capture", async () => {
    const certIds: string[] = [];
    for (let n = 0; n < 130; n += 1) certIds.push(await issueWaitingCertificate(host));
    const bad = certIds[110] as string;
    await env.DB.prepare(
      `CREATE TRIGGER broken BEFORE INSERT ON audit_entries WHEN NEW.entity_id = '${bad}' BEGIN SELECT RAISE(ABORT, 'injected fault'); END`,
    ).run();
    await runCapture(0, { log: silentLog });
    expect((await getPublicPolicies(certIds[99] as string)).status).toBe("captured");
    expect((await getPublicPolicies(certIds[100] as string)).status).toBe("pending");
    expect(await listLinkedEntries(certIds[100] as string)).toEqual([]);
    await env.DB.prepare("DROP TRIGGER broken").run();
    await runCapture(61 * secondMs);
    expect(web.calls).toHaveLength(3);
    const captures = await queryRows(`SELECT DISTINCT policy_capture_id FROM ${certificatesWithOrigin} WHERE origin_domain = ?`, host);
    expect(captures).toHaveLength(1);
    expect(
      await queryRows(
        `SELECT id FROM audit_entries WHERE type = 'policy.linked' AND entity_id IN (SELECT id FROM ${certificatesWithOrigin} WHERE origin_domain = ?)`,
        host,
      ),
    ).toHaveLength(130);
    expect(await listWaitingRows()).toEqual([]);
  });

  test("10,000 waiting certificates are linked once each", async () => {
    const first = await issueWaitingCertificate(host);
    await copyCertificate(first, 9_999);
    const batches: number[] = [];
    const db = interceptBatches(async (statements) => {
      batches.push(statements.length);
    });
    await capturePolicies(await createPlatformAt(), openDatabase(db));
    expect(batches).toHaveLength(100);
    expect(Math.max(...batches)).toBeLessThanOrEqual(110);
    expect(await listWaitingRows()).toEqual([]);
    const [counts] = await queryRows<{ certs: number; entries: number }>(
      `SELECT (SELECT count(*) FROM ${certificatesWithOrigin} WHERE origin_domain = ?1 AND policy_capture_id IS NOT NULL) AS certs,
              (SELECT count(*) FROM audit_entries WHERE type = 'policy.linked' AND entity_id IN (SELECT id FROM ${certificatesWithOrigin} WHERE origin_domain = ?1)) AS entries`,
      host,
    );
    expect(counts).toEqual({ certs: 10_000, entries: 10_000 });
  }, 60_000);

  test("a text that does not match its hash is not shown", async () => {
    const certId = await issueWaitingCertificate(host);
    await runCapture();
    const [{ id } = { id: "" }] = (await getPublicPolicies(certId)).policies;
    await env.KV.put(`policy:${id}`, "Privacy\nWe keep nothing.");
    const [privacy, terms] = await getPoliciesWithText(certId);
    expect(privacy?.text).toBeNull();
    expect(terms?.text).toBe("Terms\nBe kind.");
  });
});

describe("submissions by strangers", () => {
  test("G9: apply policies that only the named page links to only to that page", async () => {
    web.serve(`https://${host}/`, "<h1>Acme</h1>");
    web.serve(`https://${host}/privacy`, () => createHtmlResponse("gone", { status: 404 }));
    web.serve(`https://${host}/terms`, () => createHtmlResponse("gone", { status: 404 }));
    web.serve(`https://${host}/forum/post/77`, '<a href="/forum/fake">Privacy policy</a> <a href="/forum/fake-terms">Terms of service</a>');
    web.serve(`https://${host}/forum/fake`, "We may sell everything.");
    web.serve(`https://${host}/forum/fake-terms`, "You owe us.");
    web.serve(`https://${host}/quote`, '<a href="/real">Privacy policy</a>');
    web.serve(`https://${host}/real`, "We keep little.");
    const planted = await issueWaitingCertificate(host, "/forum/post/77");
    await runCapture();
    const victim = await issueWaitingCertificate(host, "/quote", minuteMs);
    expect((await getPublicPolicies(victim)).status).toBe("pending");
    await runCapture(minuteMs);
    const listSources = async (certId: string) =>
      (await getPublicPolicies(certId)).policies.map(({ source_url }) => source_url.replace(`https://${host}`, ""));
    expect(await listSources(planted)).toEqual(["/forum/fake", "/forum/fake-terms"]);
    expect(await listSources(victim)).toEqual(["/real"]);
    // This is another certificate for the same page.
    expect((await getPublicPolicies(await issueWaitingCertificate(host, "/forum/post/77?again=1", 2 * minuteMs))).status).toBe("captured");
  });

  test("G9: do not replace policies that the front page links to", async () => {
    web.serve(`https://${host}/forum/post/77`, '<a href="/forum/fake">Privacy policy</a>');
    const planted = await issueWaitingCertificate(host, "/forum/post/77");
    await runCapture();
    expect((await getPublicPolicies(planted)).policies.map(({ content_hash }) => content_hash)).toEqual([privacyHash, termsHash]);
    expect(web.urls()).not.toContain(`https://${host}/forum/post/77`);
  });

  const countWaitingPages = async (business: string): Promise<number> =>
    (await queryRows<{ n: number }>("SELECT count(*) AS n FROM policy_pages WHERE business_id = ? AND origin <> ''", business))[0]?.n ?? 0;

  test("G10: delay another business's capture by at most one of forty hosts that never respond", async () => {
    for (let n = 0; n < 40; n += 1) await issueWaitingCertificate(`tarpit-${n}-${host}`);
    const [{ business_id: acme } = { business_id: "" }] = await queryRows<{ business_id: string }>(
      "SELECT business_id FROM policy_pages LIMIT 1",
    );
    expect(await countWaitingPages(acme)).toBe(10);
    await env.DB.prepare("INSERT INTO policy_pages (business_id, origin, page, next_at, created_at) VALUES (?, ?, ?, 1, 1)")
      .bind(world.other.id, buildOrigin(host), `https://${host}/quote`)
      .run();
    // The other business requested its capture last, but it gets one of the first two turns.
    const db = openDatabase(env.DB);
    const now = (await createPlatformAt()).clock();
    await env.DB.prepare("UPDATE policy_pages SET next_at = 0 WHERE business_id = ?").bind(acme).run();
    const turns = [await claimPolicyPage(db, now), await claimPolicyPage(db, now), await claimPolicyPage(db, now)];
    expect(turns.map((turn) => turn?.businessId ?? null)).toEqual([acme, world.other.id, null]); // each business has at most one capture running
    await endPolicyTurn(db, acme as BusinessId, now);
    expect((await claimPolicyPage(db, now))?.businessId).toBe(acme); // the other business has no more work due
  });

  test("G10: get no policies and cause no fetch past 20 waiting pages of a business, of which at most 10 are unknown", async () => {
    await issueWaitingCertificate(host);
    await runCapture();
    const later = 16 * minuteMs;
    const [{ business_id: acme } = { business_id: "" }] = await queryRows<{ business_id: string }>(
      "SELECT business_id FROM certificates ORDER BY ord DESC LIMIT 1",
    );
    for (let n = 0; n < 12; n += 1) await issueWaitingCertificate(`unknown-${n}-${host}`, "/quote", later);
    expect(await countWaitingPages(acme)).toBe(10);
    for (let n = 0; n < 12; n += 1) await issueWaitingCertificate(host, `/quote-${n}`, later);
    expect(await countWaitingPages(acme)).toBe(20);
  });

  test("G10: an unknown page can wait although more than ten known pages are waiting", async () => {
    await issueWaitingCertificate(host);
    await runCapture();
    const later = 16 * minuteMs;
    for (let n = 0; n < 12; n += 1) await issueWaitingCertificate(host, `/quote-${n}`, later);
    await issueWaitingCertificate(`new-${host}`, "/quote", later);
    expect(await queryRows("SELECT origin FROM policy_pages WHERE business_id = ? AND origin LIKE 'https://new-%'", world.acme.id)).toEqual(
      [{ origin: `https://new-${host}` }],
    );
  });

  test("G10: get no policies and cause no fetch past the limit for waiting pages of a business", async () => {
    const certIds: string[] = [];
    for (let n = 0; n < 23; n += 1) certIds.push(await issueWaitingCertificate(`many-${n}-${host}`));
    await runCapture();
    const last = await Promise.all(certIds.slice(-3).map(getPublicPolicies));
    expect(last.map(({ status }) => status)).toEqual(["unavailable", "unavailable", "unavailable"]);
    expect(web.urls().some((url) => url.startsWith(`https://many-21-${host}`))).toBe(false);
  });

  test("G18: store a limited number of bytes of policy texts a day, and texts that are already stored are still linked", async () => {
    const { config } = await createPlatformAt();
    const capture = (ms: number, used: number, added: number) => {
      const storageLimits = { ...config.storageLimits, policies: { days: 30, records: 1_000, bytes: used + added } };
      return runCapture(ms, { config: { ...config, storageLimits } });
    };
    const sumOfBytes = "SELECT coalesce(sum(bytes), 0) AS bytes FROM record_usage WHERE owner_kind = 'policies' AND owner_id = ?";
    const countUsedBytes = async (owner: string = world.acme.id): Promise<number> =>
      (await queryRows<{ bytes: number }>(sumOfBytes, owner))[0]?.bytes ?? 0;
    const countTexts = async (): Promise<number> => (await env.KV.list({ prefix: "policy:pol_" })).keys.length;
    const before = await countUsedBytes();
    const textBytes = "Privacy\nWe keep little.Terms\nBe kind.".length;

    const refused = await issueWaitingCertificate(host);
    const textsBefore = await countTexts();
    await capture(0, before, textBytes - 1);
    expect((await getPublicPolicies(refused)).status).toBe("unavailable");
    expect([await countUsedBytes(), await countTexts()]).toEqual([before, textsBefore]);

    const stored = await issueWaitingCertificate(host, "/quote", 16 * minuteMs);
    await capture(16 * minuteMs, before, textBytes);
    expect((await getPublicPolicies(stored)).policies.map(({ content_hash }) => content_hash)).toEqual([privacyHash, termsHash]);
    expect(await countUsedBytes()).toBe(before + textBytes);

    web.serve(`https://${host}/terms`, "Terms changed");
    const laterCertId = await issueWaitingCertificate(host, "/quote", 32 * minuteMs);
    await capture(32 * minuteMs, await countUsedBytes(`${world.acme.id} known`), "Terms changed".length - 1);
    expect((await getPublicPolicies(laterCertId)).policies.map(({ kind, content_hash }) => [kind, content_hash])).toEqual([
      ["privacy", privacyHash],
    ]);
  });

  test("G17: get no policies and cause no fetch past the daily number of captures of a business", async () => {
    const certId = await issueWaitingCertificate(`limited-${host}`);
    await runCapture(0, {
      takeExactly: async (name) => ({ isAllowed: name !== "POLICY_CAPTURES_PER_BUSINESS", remaining: 0, resetMs: 1_000 }),
    });
    expect((await getPublicPolicies(certId)).status).toBe("unavailable");
    expect(web.urls().some((url) => url.startsWith(`https://limited-${host}`))).toBe(false);
  });

  test("G19: cannot use up the captures and waiting places of pages whose policies are known", async () => {
    await issueWaitingCertificate(host);
    await runCapture();
    const later = 16 * minuteMs;
    for (let n = 0; n < 21; n += 1) await issueWaitingCertificate(`made-up-${n}-${host}`, "/quote", later);
    const certId = await issueWaitingCertificate(host, "/quote", later);
    const left = new Map<string, number>();
    // Every limit allows one capture per key.
    const takeExactly = async (name: string, key: string) => {
      const used = left.get(`${name}:${key}`) ?? 0;
      left.set(`${name}:${key}`, used + 1);
      return { isAllowed: used < 1, remaining: 0, resetMs: 1_000 };
    };
    await runCapture(later, { takeExactly });
    expect(await getPublicPolicies(certId)).toMatchObject({
      status: "captured",
      policies: [{ content_hash: privacyHash }, { content_hash: termsHash }],
    });
    const unknown = await issueWaitingCertificate(`made-up-30-${host}`, "/quote", later);
    await runCapture(later, { takeExactly });
    expect((await getPublicPolicies(unknown)).status).toBe("unavailable");
  });

  test("G19: cannot use up the new texts of pages whose policies are known", async () => {
    await issueWaitingCertificate(host);
    await runCapture();
    // The limit leaves no room for another text of an unknown page.
    const { config } = await createPlatformAt();
    const full = {
      config: { ...config, storageLimits: { ...config.storageLimits, policies: { days: 30, records: 1, bytes: 40_000_000 } } },
    };
    await env.DB.prepare("DELETE FROM record_usage WHERE owner_id = ?").bind(`${world.acme.id} known`).run();
    const later = 16 * minuteMs;
    const madeUpHost = `made-up-text-${host}`;
    web.resolve(madeUpHost, publicAddress);
    for (const path of ["/", "/privacy", "/terms"]) web.serve(`https://${madeUpHost}${path}`, `<h1>${path}</h1>${footer}`);
    const madeUp = await issueWaitingCertificate(madeUpHost, "/quote", later);
    web.serve(`https://${host}/terms`, "Terms changed once more");
    const certId = await issueWaitingCertificate(host, "/quote", later);
    await runCapture(later, full);
    expect((await getPublicPolicies(madeUp)).status).toBe("unavailable");
    const { policies } = await getPublicPolicies(certId);
    expect(policies.map(({ kind }) => kind)).toEqual(["privacy", "terms"]);
    expect(policies.map(({ content_hash }) => content_hash)).not.toContain(termsHash);
  });
});

describe("the policies of test certificates", () => {
  const sandboxMs = 30 * dayMs;
  const issueTestCertificate = (ms = 0): Promise<string> => issueWaitingCertificate(host, "/quote", ms, world.acme.clients.sandbox);
  const sweep = async (ms: number, changes: Partial<Platform> = {}): Promise<void> =>
    deleteExpiredTestRecords(await createPlatformAt(ms, changes));
  /** Returns how many captures, snapshots and texts of the site are stored. */
  const countStored = async (snapshotIds: readonly string[]): Promise<readonly number[]> => [
    (await queryRows("SELECT id FROM policy_captures WHERE domain = ?", host)).length,
    (await queryRows("SELECT id FROM policy_snapshots WHERE domain = ?", host)).length,
    (await Promise.all(snapshotIds.map((id) => env.KV.get(`policy:${id}`)))).filter((text) => text !== null).length,
  ];
  const listSnapshotIds = async (certId: string): Promise<readonly string[]> =>
    (await getPublicPolicies(certId)).policies.map(({ id }) => id);

  test("are deleted, both rows and texts, with the last certificate that has them", async () => {
    const first = await issueTestCertificate();
    await runCapture();
    const laterCertId = await issueTestCertificate(10 * minuteMs);
    const ids = await listSnapshotIds(laterCertId);
    expect([ids, await countStored(ids)]).toEqual([await listSnapshotIds(first), [1, 2, 2]]);
    await sweep(sandboxMs + 5 * minuteMs);
    expect((await getPublicPolicies(laterCertId)).policies.map(({ id }) => id)).toEqual(ids);
    await sweep(sandboxMs + 15 * minuteMs);
    expect(await countStored(ids)).toEqual([0, 0, 0]);
    expect(await queryRows("SELECT * FROM deleted_policy_texts")).toEqual([]);
  });

  test.each(["before", "after"] as const)("stay if a live certificate that was issued %s the capture shares them", async (order) => {
    const live = order === "before" ? [await issueWaitingCertificate(host)] : [];
    const tested = await issueTestCertificate();
    await runCapture();
    if (order === "after") live.push(await issueWaitingCertificate(host, "/quote", 10 * minuteMs));
    const ids = await listSnapshotIds(tested);
    await sweep(2 * sandboxMs);
    expect((await getWithKey(`/v1/certs/${tested}/verify`)).status).toBe(404);
    expect(await countStored(ids)).toEqual([1, 2, 2]);
    expect((await getPoliciesWithText(live[0] as string)).map(({ text }) => text)).toEqual(["Privacy\nWe keep little.", "Terms\nBe kind."]);
    await expect(env.DB.prepare("DELETE FROM policy_captures WHERE domain = ?").bind(host).run()).rejects.toThrow("never deleted");
  });

  test("stay if a live certificate has the same texts from another capture", async () => {
    const tested = await issueTestCertificate();
    await runCapture();
    const live = await issueWaitingCertificate(host, "/quote", 16 * minuteMs);
    await runCapture(16 * minuteMs);
    const ids = await listSnapshotIds(tested);
    expect(await listSnapshotIds(live)).toEqual(ids);
    await sweep(2 * sandboxMs);
    expect(await countStored(ids)).toEqual([1, 2, 2]);
  });

  test("leave no text behind even if the text store was unavailable during the deletion", async () => {
    const ids = await (async () => {
      const tested = await issueTestCertificate();
      await runCapture();
      return listSnapshotIds(tested);
    })();
    const kv = { ...env.KV, delete: () => Promise.reject(new Error("KV DELETE failed: 500")) } as unknown as KVNamespace;
    await sweep(2 * sandboxMs, { kv, log: silentLog });
    expect(await countStored(ids)).toEqual([0, 0, 2]);
    await sweep(2 * sandboxMs);
    expect(await countStored(ids)).toEqual([0, 0, 0]);
  });
});

describe("policies are found", () => {
  /** By default, the front page has no links, so policies come from the form's page or from well-known paths. */
  beforeEach(() => web.serve(`https://${host}/`, "<h1>Acme</h1>"));

  const captureAndListSources = async (): Promise<readonly string[]> => {
    const certId = await issueWaitingCertificate(host);
    await runCapture();
    return (await getPublicPolicies(certId)).policies.map(({ source_url }) => source_url.replace(`https://${host}`, ""));
  };

  test("by a declared link before any other", async () => {
    web.serve(`https://${host}/quote`, `<link rel="privacy-policy" href="/p1"><a rel="nofollow terms-of-service" href="t1">x</a>${footer}`);
    web.serve(`https://${host}/p1`, "declared privacy");
    web.serve(`https://${host}/t1`, "declared terms");
    expect(await captureAndListSources()).toEqual(["/p1", "/t1"]);
  });

  test("on the front page when the form's page links to none", async () => {
    web.serve(`https://${host}/quote`, '<a href="/terms">AGB</a>');
    web.serve(`https://${host}/`, '<a href="/datenschutz.html">Datenschutzerklärung</a>');
    web.serve(`https://${host}/datenschutz.html`, "Wir speichern wenig.");
    expect(await captureAndListSources()).toEqual(["/datenschutz.html", "/terms"]);
  });

  test("at well-known paths when no page links to any", async () => {
    web.serve(`https://${host}/quote`, "<form></form>");
    web.serve(`https://${host}/terms`, () => createHtmlResponse("", { status: 404 }));
    web.serve(`https://${host}/terms-of-service`, "Terms of service of Acme");
    expect(await captureAndListSources()).toEqual(["/privacy", "/terms-of-service"]);
  });

  test("but not in a page that a site returns for every path", async () => {
    const shell = "<title>Acme: privacy and terms for all</title><div id=app></div>";
    for (const path of ["/quote", "/", "/privacy", "/terms", "/privacy-policy", "/terms-of-service", "/legal/privacy", "/legal/terms"]) {
      web.serve(`https://${host}${path}`, shell);
    }
    expect(await captureAndListSources()).toEqual([]);
  });

  test("at the next candidate when the first is a PDF, too large, empty or missing", async () => {
    const links = ["/a.pdf", "/b", "/c"].map((href) => `<a href="${href}">Privacy policy</a>`).join("");
    web.serve(`https://${host}/quote`, `${links}<a href="/d">Terms</a><a href="/e">Terms of use</a>`);
    web.serve(`https://${host}/a.pdf`, () => new Response("%PDF-1.7", { headers: { "content-type": "application/pdf" } }));
    web.serve(`https://${host}/b`, () => createHtmlResponse("x".repeat(1_024 * 1_024 + 1)));
    web.serve(`https://${host}/c`, "Privacy, the third");
    web.serve(`https://${host}/e`, "<script>render()</script>");
    web.serve(`https://${host}/d`, "Terms, the second");
    expect(await captureAndListSources()).toEqual(["/c", "/d"]);
  });

  test("in plain text and in a page of exactly 1 MiB", async () => {
    web.serve(
      `https://${host}/privacy`,
      () => new Response("Privacy\r\n\r\nplain <b>text</b>", { headers: { "content-type": "text/plain" } }),
    );
    web.serve(`https://${host}/terms`, () => createHtmlResponse(`Terms ${"x".repeat(1_024 * 1_024 - 6)}`));
    const certId = await issueWaitingCertificate(host);
    await runCapture();
    const [privacy, terms] = await getPoliciesWithText(certId);
    expect(privacy?.text).toBe("Privacy\nplain <b>text</b>");
    expect(terms?.text).toHaveLength(1_024 * 1_024);
  });

  test("on a sister host of the same registrable domain, and on no other site", async () => {
    web.resolve("legal.example.com", publicAddress);
    web.resolve("example.org", publicAddress);
    web.serve(
      `https://${host}/quote`,
      '<a href="https://legal.example.com/p">Privacy policy</a><a href="https://example.org/t">Terms of service</a>',
    );
    web.serve("https://legal.example.com/p", "Privacy of the group");
    web.serve("https://example.org/t", "Terms of somebody else");
    const certId = await issueWaitingCertificate(host);
    await runCapture();
    const { policies } = await getPublicPolicies(certId);
    expect(policies.map(({ source_url }) => source_url)).toEqual(["https://legal.example.com/p", `https://${host}/terms`]);
    expect(web.urls()).not.toContain("https://example.org/t");
  });

  test("after up to three redirects within the site, with the final URL in the snapshot", async () => {
    web.serve(`https://${host}/privacy`, () => redirectResponse("/r1", 301));
    web.serve(`https://${host}/r1`, () => redirectResponse(`https://${host}/r2`, 308));
    web.serve(`https://${host}/r2`, () => redirectResponse("r3"));
    web.serve(`https://${host}/r3`, "Privacy, moved");
    web.serve(`https://${host}/terms`, () => redirectResponse("/s1"));
    for (const n of [1, 2, 3]) web.serve(`https://${host}/s${n}`, () => redirectResponse(`/s${n + 1}`));
    web.serve(`https://${host}/s4`, "Terms, moved too far");
    expect(await captureAndListSources()).toEqual(["/r3"]);
    expect(web.urls()).not.toContain(`https://${host}/s4`);
  });

  test.each([
    "https://example.org/p",
    "http://site.example.com/p",
    "https://127.0.0.1/p",
    "https://2130706433/p",
    "https://[::1]/p",
    "https://localhost/p",
    "https://user@legal.example.com/p",
    "https://legal.example.com:8080/p",
    "https://legal.example.com./p",
    "https://legal%2eexample.com/p",
    "//169.254.169.254/latest/meta-data",
    "/\\127.0.0.1/p",
    "file:///etc/passwd",
    "data:text/html,Privacy",
    "https:legal.example.com",
  ])("but not after a redirect to %s", async (location) => {
    web.resolve("example.org", publicAddress);
    web.resolve("legal.example.com", publicAddress);
    web.serve(`https://${host}/privacy`, () => redirectResponse(location));
    await issueWaitingCertificate(host);
    await runCapture();
    const allowed = new Set([host]);
    expect(web.urls().filter((url) => !allowed.has(new URL(url).hostname))).toEqual([]);
  });
});

describe("hosts that are not public", () => {
  test.each([
    ["one private address", ["93.184.216.34", "10.0.0.1"]],
    ["loopback in IPv6", ["::1"]],
    ["a cloud's metadata service", ["169.254.169.254"]],
    ["no address", []],
  ])("are never called: %s", async (_, addresses) => {
    web.resolve(host, addresses);
    const certId = await issueWaitingCertificate(host);
    await runCapture();
    expect(web.calls).toEqual([]);
    expect((await getPublicPolicies(certId)).status).toBe("unavailable");
  });

  test("are never called when the resolvers disagree", async () => {
    web.resolve(host, (resolver) =>
      Response.json({ Status: 0, Answer: [{ name: host, type: 1, data: resolver === "dns.google" ? "192.168.0.1" : "93.184.216.34" }] }),
    );
    const certId = await issueWaitingCertificate(host);
    await runCapture();
    expect(web.calls).toEqual([]);
    expect((await getPublicPolicies(certId)).status).toBe("unavailable");
  });

  test.each<[string, () => Response]>([
    ["one resolver is down", () => new Response("", { status: 500 })],
    ["one resolver returns invalid data", () => new Response("<html>")],
    ["one resolver redirects", () => redirectResponse("https://example.org/dns-query")],
    ["one resolver fails to resolve", () => Response.json({ Status: 2 })],
  ])("are not called but resolved again later when %s", async (_, broken) => {
    web.resolve(host, (resolver) =>
      resolver === "dns.google" ? broken() : Response.json({ Status: 0, Answer: [{ name: host, type: 1, data: "93.184.216.34" }] }),
    );
    const certId = await issueWaitingCertificate(host);
    await runCapture();
    expect(web.calls).toEqual([]);
    expect((await getPublicPolicies(certId)).status).toBe("pending");
    web.resolve(host, publicAddress);
    await runCapture(11 * secondMs);
    expect((await getPublicPolicies(certId)).status).toBe("captured");
  });

  test("are checked again after every redirect, because a sister host may resolve to a private address", async () => {
    web.resolve("inside.example.com", ["10.0.0.1"]);
    web.serve("https://inside.example.com/p", "Privacy from inside");
    web.serve(`https://${host}/privacy`, () => redirectResponse("https://inside.example.com/p"));
    await issueWaitingCertificate(host);
    await runCapture();
    expect(web.urls()).toContain(`https://${host}/privacy`);
    expect(web.urls()).not.toContain("https://inside.example.com/p");
  });

  test("are checked again for every page", async () => {
    let questions = 0;
    web.resolve(host, () => {
      questions += 1;
      return Response.json({ Status: 0, Answer: [{ name: host, type: 1, data: questions > 8 ? "127.0.0.1" : "93.184.216.34" }] });
    });
    await issueWaitingCertificate(host);
    await runCapture();
    // The address becomes private after the eight resolver queries for the first two pages.
    expect(web.urls()).toEqual([`https://${host}/`, `https://${host}/privacy`]);
  });
});

test("policies of a page on another verified domain do not apply to this origin", async () => {
  web.resolve("demo.example", publicAddress);
  web.serve("https://demo.example/form", '<a href="/p">Privacy policy</a>');
  web.serve("https://demo.example/p", "Privacy of the other domain");
  const certId = await issueWaitingCertificate(host, "https://demo.example/form");
  await runCapture();
  expect(web.urls().filter((url) => !url.startsWith(`https://${host}/`))).toEqual([]);
  expect((await getPublicPolicies(certId)).policies.map(({ source_url }) => source_url)).toEqual([
    `https://${host}/privacy`,
    `https://${host}/terms`,
  ]);
});
