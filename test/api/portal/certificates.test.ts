// Tests certificates in the portal: personal data is masked, only the business's own certificates are shown, and the person is revealed
// only by an audited POST.
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { clearCodes, signIn } from "../../support/people.ts";
import { callPortal, countRecordedReads, describeOutcome, type Person } from "../../support/portal.ts";
import { call, submitConsent, getWithKey, issueCertificate, buildSubmission, world } from "../../support/world.ts";

let owner: Person;
let member: Person;
let other: Person;
let consumer: Person;
let certId = "";

beforeAll(async () => {
  await clearCodes();
  owner = await signIn(world.ownerEmail);
  member = await signIn(world.memberEmail);
  other = await signIn(world.otherOwnerEmail);
  consumer = await signIn(world.consumerEmail, "consumer");
  ({ cert_id: certId } = await issueCertificate({
    fields: { email: "quinn@example.com", first_name: "Quinn" },
    purpose: "portal reading",
  }));
});

const countReads = (): Promise<number> => countRecordedReads(owner, certId);

describe("GET /v1/business/portal/certs", () => {
  test("returns the same as the API to every member", async () => {
    const query = "?subject_email=quinn@example.com&q=portal";
    const portalResponse = await callPortal(member, "GET", `/certs${query}`);
    expect(portalResponse.body.data).toEqual((await getWithKey(`/v1/certs${query}`, world.acme.keys.live)).body.data);
    expect(portalResponse.body.data.certs[0]).toMatchObject({ cert_id: certId, subject: { email: "q***@e***.com", first_name: "Q***" } });
    expect((await callPortal(other, "GET", `/certs${query}`)).body.data.total).toBe(0);
    expect(describeOutcome(await callPortal(owner, "GET", "/certs?page=0"))).toBe("400 invalid_request");
  });

  test("lists sandbox certificates only if they are requested", async () => {
    const sandbox = { ...buildSubmission(), client_id: world.acme.clients.sandbox, purpose: "a portal sandbox try" };
    const id = (await submitConsent(sandbox)).body.data.cert_id;
    const listIds = async (query: string) =>
      ((await callPortal(owner, "GET", `/certs?q=portal%20sandbox${query}`)).body.data.certs as { cert_id: string }[]).map(
        (certificate) => certificate.cert_id,
      );
    expect(await listIds("")).toEqual([]);
    expect(await listIds("&environment=sandbox")).toEqual([id]);
    expect((await callPortal(owner, "GET", `/certs/${id}`)).body.data.environment).toBe("sandbox");
    expect((await callPortal(owner, "POST", `/certs/${id}/reveal`)).body.data.subject.first_name).toBe("Pat");
  });
});

describe("GET /v1/business/portal/certs/{id}", () => {
  test("returns the masked certificate without an audit entry", async () => {
    const before = await countReads();
    const response = await callPortal(member, "GET", `/certs/${certId}`);
    expect(response.status).toBe(200);
    expect(response.body.data.subject).toEqual({ email: "q***@e***.com", first_name: "Q***" });
    expect(response.text).not.toMatch(/quinn@example\.com|"user_agent"|"page_url"/);
    expect(await countReads()).toBe(before);
  });

  test("reveals the person by a POST, with an audit entry that names the member", async () => {
    const before = await countReads();
    const response = await callPortal(member, "POST", `/certs/${certId}/reveal`);
    expect(response.body.data).toMatchObject({ cert_id: certId, subject: { email: "quinn@example.com", first_name: "Quinn" } });
    expect(response.body.data.evidence.page_url).toContain("https://www.example.com/quote");
    expect(await countReads()).toBe(before + 1);
    const trail = await callPortal(owner, "GET", "/audit?limit=5");
    const entries = [...trail.body.data.entries, ...trail.body.data.pending] as { type: string; payload?: { by?: string } }[];
    const entry = entries.find(({ type }) => type === "certificate.subject_read");
    const user = (await callPortal(member, "GET", "")).body.data.user;
    expect(entry?.payload?.by).toBe(user.id);
  });

  test("reveals nothing if the audit entry cannot be written", async () => {
    await env.DB.prepare("CREATE TRIGGER no_audit BEFORE INSERT ON changes BEGIN SELECT RAISE(ABORT, 'injected'); END").run();
    try {
      const response = await callPortal(owner, "POST", `/certs/${certId}/reveal`);
      expect(describeOutcome(response)).toBe("503 storage_unavailable");
      expect(response.text).not.toContain("quinn@example.com");
    } finally {
      await env.DB.prepare("DROP TRIGGER no_audit").run();
    }
  });

  test("records each read of the views in the audit log", async () => {
    const before = await countReads();
    await callPortal(member, "GET", `/certs/${certId}/views`);
    expect(await countReads()).toBe(before + 1);
  });

  test("lists the views page by page", async () => {
    for (let at = 0; at < 3; at += 1)
      await call(`/c/${certId}`, {
        headers: { "user-agent": `Mozilla/5.0 (X11; Linux) reader ${at}`, "cf-connecting-ip": `198.51.100.${at}` },
      });
    const first = await callPortal(member, "GET", `/certs/${certId}/views?per_page=2`);
    const second = await callPortal(member, "GET", `/certs/${certId}/views?per_page=2&page=2`);
    expect(first.body.data).toMatchObject({ total: 3, page: 1, per_page: 2 });
    expect([...first.body.data.views, ...second.body.data.views].map(({ ip }) => ip)).toEqual([
      "198.51.100.2",
      "198.51.100.1",
      "198.51.100.0",
    ]);
    expect((await callPortal(member, "GET", `/certs/${certId}/views?page=9`)).body.data.views).toEqual([]);
    expect(describeOutcome(await callPortal(member, "GET", `/certs/${certId}/views?page=x`))).toBe("400 invalid_request");
  });

  test("returns the same 404 for another business's, an unknown and a malformed id, and refuses other callers", async () => {
    const unknown = "cc_00000000000000000000000000";
    const before = await countReads();
    for (const [method, path] of [
      ["GET", ""],
      ["POST", "/reveal"],
      ["GET", "/views"],
    ] as const) {
      const foreign = await callPortal(other, method, `/certs/${certId}${path}`);
      expect(describeOutcome(foreign), path).toBe("404 cert_not_found");
      for (const id of [unknown, "cc_x"]) {
        const missing = await callPortal(owner, method, `/certs/${id}${path}`);
        expect({ ...missing.body, request_id: "" }).toEqual({ ...foreign.body, request_id: "" });
      }
      expect(describeOutcome(await callPortal(consumer, method, `/certs/${certId}${path}`)), path).toBe("403 forbidden");
      expect(describeOutcome(await callPortal(null, method, `/certs/${certId}${path}`)), path).toBe("401 unauthorized");
    }
    expect(describeOutcome(await callPortal(owner, "POST", `/certs/${certId}/reveal`, undefined, { origin: "https://evil.example" }))).toBe(
      "403 csrf_failed",
    );
    expect(await countReads()).toBe(before);
  });
});
