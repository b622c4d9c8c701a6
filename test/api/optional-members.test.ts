// Tests optional members of requests: JSON null means the same as an absent member, and times are accepted in the forms that other
// programming languages produce.
import { describe, expect, test } from "vitest";
import { signIn } from "../support/people.ts";
import { callPortal, signUpBusiness } from "../support/portal.ts";
import { buildSubmissionWith } from "../support/submissions.ts";
import { buildJsonPost } from "../support/withdrawal.ts";
import { createServiceCall, world, type TestResponse } from "../support/world.ts";

const unlimited = createServiceCall({ LIMIT_API_KEY: "100000/60", LIMIT_CONSENT_PER_IP: "100000/60" });
const authorization = `Bearer ${world.acme.keys.live}`;
const post = (path: string, body: unknown): Promise<TestResponse> => unlimited(path, buildJsonPost(body, { authorization }));
const get = (path: string): Promise<TestResponse> => unlimited(path, { headers: { authorization } });
const describeOutcome = ({ status, body }: TestResponse): string => `${status} ${body.error?.message ?? "ok"}`;

const searchFilters = ["page", "per_page", "status", "subject_email", "subject_phone", "q", "origin_domain", "entity", "from", "to"];
const profileMembers = ["name", "country", "retention_years", "revocation_scope_default", "emit_certificate_issued"];
const submissionMembers = [
  "entities_accepted",
  "entities_rejected",
  "submission_id",
  "locale",
  "presentation",
  "esign",
  "widget",
  "referrer",
];

describe("JSON null for an optional member", () => {
  test.each(searchFilters)("is not a filter in a search: %s", async (member) => {
    const [absent, explicit] = [await post("/v1/certs/search", {}), await post("/v1/certs/search", { [member]: null })];
    expect(describeOutcome(explicit)).toBe("200 ok");
    expect(explicit.body.data).toEqual(absent.body.data);
  });

  test.each([...submissionMembers, "client_time", "fields_truncated"])("is accepted in a submission: %s", async (member) => {
    const submission = buildSubmissionWith({ fields: { email: "pat@example.com" }, [member]: null });
    expect(describeOutcome(await unlimited("/v1/consent", buildJsonPost(submission, { origin: "https://www.example.com" })))).toBe(
      "201 ok",
    );
  });

  test("has the same effect as leaving the member out, in the profile and in new keys, clients and endpoints", async () => {
    const owner = await signUpBusiness("owner@optional-members.example");
    const before = (await callPortal(owner, "GET", "")).body.data.business;
    for (const member of profileMembers) {
      const changed = await callPortal(owner, "PATCH", "", { [member]: null });
      expect([member, describeOutcome(changed)]).toEqual([member, "200 ok"]);
      expect(changed.body.data.business).toEqual(before);
    }
    expect((await callPortal(owner, "POST", "/keys", { name: "CRM", environment: null })).body.data.environment).toBe("live");
    expect((await callPortal(owner, "POST", "/clients", { name: "Forms", environment: null })).body.data.environment).toBe("live");
    const { cookie } = await signIn(world.ownerEmail);
    const url = "https://hooks.optional-members-tests.com/in";
    const settings = { url, events: null, description: null, environment: null };
    const headers = { "content-type": "application/json", cookie };
    const added = await unlimited("/v1/webhooks", { method: "POST", headers, body: JSON.stringify(settings) });
    expect(added.body.data).toMatchObject({ url, environment: "live" });
    const path = `/v1/webhooks/${added.body.data.id}`;
    const kept = await unlimited(path, { method: "PATCH", headers, body: JSON.stringify({ url: null, status: null, events: null }) });
    expect(kept.body.data).toMatchObject({ url, status: "enabled" });
    await unlimited(path, { method: "DELETE", headers });
  });
});

describe("an empty string for an address that a contact does not have", () => {
  test.each([
    { email: "", phone: "+12025550123" },
    { email: "pat@example.com", phone: "" },
    { email: "pat@example.com", phone_sha256: "" },
    { phone: "+12025550123", email_sha256: "" },
  ])("is the same as leaving the address out of a contact check: %j", async (subject) => {
    const named = Object.fromEntries(Object.entries(subject).filter(([, value]) => value !== ""));
    const [absent, explicit] = [
      await post("/v1/contact-check", { subjects: [named] }),
      await post("/v1/contact-check", { subjects: [subject] }),
    ];
    expect(describeOutcome(explicit)).toBe("200 ok");
    expect(explicit.body.data.results[0].basis).toEqual(absent.body.data.results[0].basis);
  });

  test("does not identify anyone on its own", async () => {
    const response = await post("/v1/contact-check", { subjects: [{ email: "", phone: "", email_sha256: "", phone_sha256: "" }] });
    expect(describeOutcome(response)).toBe("400 subjects.email: is required unless you send email_sha256, phone or phone_sha256.");
  });
});

describe("a time in a filter", () => {
  test.each([
    "2026-11-26",
    "2026-11-26T10:00Z",
    "2026-11-26T10:00:00.123456Z",
    "2026-11-26T10:00:00.123456789Z",
    "2026-11-26T10:00:00+0000",
    "2026-11-26T10:00:00-05:00",
    "2026-11-26t10:00:00z",
    "2026-11-26 10:00:00+00:00",
    " 2026-11-26 ",
  ])("is accepted in the forms that other programming languages produce: %s", async (time) => {
    for (const name of ["from", "to"]) {
      expect(describeOutcome(await get(`/v1/certs?${name}=${encodeURIComponent(time)}`))).toBe("200 ok");
      expect(describeOutcome(await post("/v1/certs/search", { [name]: time }))).toBe("200 ok");
    }
  });

  test.each(["2026-11-26T10:00:00", "2026-11-26T10", "20261126", "2026-02-29", "2026-11-26T25:00Z", "26.11.2026", "yesterday", ""])(
    "is refused if it is not a single time or day: %j",
    async (time) => {
      for (const name of ["from", "to"]) expect((await post("/v1/certs/search", { [name]: time })).status).toBe(400);
    },
  );
});

test("finds certificates by an international domain in both spellings", async () => {
  const list = async (host: string) => (await get(`/v1/certs?origin_domain=${encodeURIComponent(host)}`)).body.data;
  expect(await list("bücher.example")).toEqual(await list("xn--bcher-kva.example"));
  expect(await list("WWW.Example.com.")).toEqual(await list("www.example.com"));
});
