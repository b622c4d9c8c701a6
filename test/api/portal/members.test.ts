// Tests a business's members: invitations (which do not reserve an address), roles, the last owner, and how sessions end.
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, test } from "vitest";
import { requestEmailCode, findEmailCode, getCookie, clearCodes, submitEmailCode, listMailTo, signIn } from "../../support/people.ts";
import { callPortal, listAuditEntryTypes, signUpBusiness, describeOutcome, signUp, type Person } from "../../support/portal.ts";
import { acceptInvitation } from "../../support/portal-pages.ts";
import { createOvertakenCall } from "../../support/overtaken-call.ts";
import { call, readDatabaseContents, countRows, createServiceCall, world } from "../../support/world.ts";

let round = 0;
let owner: Person & { id: string; userId: string };
const buildAddress = (name: string) => `${name}-${round}@gutters.example`;

beforeEach(async () => {
  round += 1;
  owner = await signUpBusiness(buildAddress("owner"));
});

const invite = (email: string, role = "member", headers: Record<string, string> = {}) =>
  callPortal(owner, "POST", "/members", { email, role }, headers);
const signInAgain = async (email: string): Promise<Person> => {
  await clearCodes();
  return signIn(email);
};
const accept = async (email: string): Promise<Person> => {
  await clearCodes();
  return acceptInvitation(email);
};
const inviteAndJoin = async (name: string, role = "member"): Promise<Person & { id: string }> => {
  const { id } = (await invite(buildAddress(name), role)).body.data;
  return { id, ...(await accept(buildAddress(name))) };
};
const list = async (person: Person = owner) => (await callPortal(person, "GET", "/members")).body.data.members as Record<string, unknown>[];

describe("POST /v1/business/portal/members", () => {
  test("sends an invitation that is not accepted by signing in with its address", async () => {
    const email = buildAddress("sam");
    const invited = await invite(email);
    expect(invited.status).toBe(201);
    expect(invited.body.data).toEqual({
      id: expect.stringMatching(/^mem_/),
      email,
      role: "member",
      status: "invited",
      invited_until: expect.any(String),
      delivery_failed_at: null,
      created_at: expect.any(String),
    });
    const [mail] = await listMailTo(email);
    expect(mail?.text).toContain("Fresh Roofs LLC");
    expect(mail?.text).toContain("/portal/sign-in");
    await clearCodes();
    await requestEmailCode(email, "business");
    const signedIn = await submitEmailCode(email, await findEmailCode(email), "business");
    const user = { id: invited.body.data.id, email, realm: "business", role: null, business_id: null };
    expect(signedIn.body.data).toEqual({ user, created: false });
    const session = { cookie: getCookie(signedIn) };
    expect((await call("/v1/auth/session", { headers: session })).body.data).toEqual({ ...user, user });
    for (const path of ["", "/members", "/certs"]) expect(describeOutcome(await callPortal(session, "GET", path))).toBe("401 unauthorized");
    expect((await list()).map(({ email: memberEmail, status }) => [memberEmail, status])).toEqual([
      [buildAddress("owner"), "active"],
      [email, "invited"],
    ]);
    expect(await listAuditEntryTypes(owner.id)).toEqual(["business.signed_up", "member.invited"]);
  });

  test("sends an invitation, and accepting it on its page creates the member", async () => {
    const email = buildAddress("kit");
    const { id } = (await invite(email)).body.data;
    const member = await accept(email);
    expect((await call("/v1/auth/session", { headers: { ...member } })).body.data.user).toEqual({
      id,
      email,
      realm: "business",
      role: "member",
      business_id: owner.id,
    });
    expect((await list()).map(({ email: memberEmail, status, role }) => [memberEmail, status, role])).toEqual([
      [buildAddress("owner"), "active", "owner"],
      [email, "active", "member"],
    ]);
    expect(await listAuditEntryTypes(owner.id)).toEqual(["business.signed_up", "member.invited", "member.joined"]);
  });

  test("accepts an address with invisible characters around it", async () => {
    const invited = await callPortal(owner, "POST", "/members", { email: "\u200epasted@acme-solar.example\ufeff", role: "member" });
    expect([invited.status, invited.body.data.email]).toEqual([201, "pasted@acme-solar.example"]);
  });

  test("gives the role that the invitation has when it is accepted", async () => {
    const { id } = (await invite(buildAddress("kim"))).body.data;
    expect((await callPortal(owner, "PATCH", `/members/${id}`, { role: "owner" })).body.data).toMatchObject({
      role: "owner",
      status: "invited",
    });
    const kim = await accept(buildAddress("kim"));
    expect((await callPortal(kim, "GET", "")).body.data.user.role).toBe("owner");
  });

  test("creates an invitation that is void once canceled or expired", async () => {
    const first = (await invite(buildAddress("one"))).body.data;
    expect((await callPortal(owner, "DELETE", `/members/${first.id}`)).body.data).toEqual({ deleted: true, id: first.id });
    await invite(buildAddress("two"));
    await env.DB.prepare("UPDATE invitations SET expires_at = 1").run();
    for (const name of ["one", "two"]) {
      await clearCodes();
      await requestEmailCode(buildAddress(name), "business");
      expect(await listMailTo(buildAddress(name))).toEqual([]);
    }
    expect(await list()).toHaveLength(1);
  });

  test("creates an invitation whose code is void once the invitation is canceled", async () => {
    const { id } = (await invite(buildAddress("late"))).body.data;
    await clearCodes();
    await requestEmailCode(buildAddress("late"), "business");
    const code = await findEmailCode(buildAddress("late"));
    await callPortal(owner, "DELETE", `/members/${id}`);
    expect(describeOutcome(await submitEmailCode(buildAddress("late"), code, "business"))).toBe("400 login_failed");
  });

  test("reserves no address: its owner can still sign up a business", async () => {
    const email = buildAddress("wanted");
    await invite(email, "owner");
    const ownBusiness = await signUpBusiness(email, { business_name: "My own" });
    expect(ownBusiness.id).not.toBe(owner.id);
    expect((await callPortal(ownBusiness, "GET", "")).body.data.business.name).toBe("My own");
  });

  test("returns the same for a member of another business, and does not move them", async () => {
    const existing = await invite(world.otherOwnerEmail);
    const unregistered = await invite(buildAddress("nobody"));
    const summarizeResponse = ({ status, body }: typeof existing) => [status, Object.keys(body.data), body.data.status];
    expect(summarizeResponse(existing)).toEqual(summarizeResponse(unregistered));
    const other = await signInAgain(world.otherOwnerEmail);
    expect((await callPortal(other, "GET", "")).body.data.business.id).toBe(world.other.id);
  });

  test("refuses a current member, and replaces an earlier invitation to the same address", async () => {
    expect(describeOutcome(await invite(buildAddress("owner")))).toBe("400 invalid_request");
    const first = (await invite(buildAddress("twice"))).body.data;
    const second = (await invite(buildAddress("twice"), "owner")).body.data;
    expect((await list()).slice(1).map(({ id, role }) => [id, role])).toEqual([[second.id, "owner"]]);
    expect(describeOutcome(await callPortal(owner, "DELETE", `/members/${first.id}`))).toBe("404 not_found");
  });

  test("never lets the code of one business's invitation accept another's", async () => {
    const email = buildAddress("between");
    const { id } = (await invite(email)).body.data;
    await clearCodes();
    await requestEmailCode(email, "business");
    const code = await findEmailCode(email);
    const stranger = await signUpWithPendingCodes(buildAddress("stranger"));
    await callPortal(owner, "DELETE", `/members/${id}`);
    await callPortal(stranger, "POST", "/members", { email, role: "member" });
    expect(describeOutcome(await submitEmailCode(email, code, "business"))).toBe("400 login_failed");
  });

  test("creates one invitation and one email per idempotency key", async () => {
    const key = { "idempotency-key": "invite-1" };
    const [first, second] = [await invite(buildAddress("once"), "member", key), await invite(buildAddress("once"), "member", key)];
    expect([second.headers.get("idempotency-replayed"), second.body.data]).toEqual(["true", first.body.data]);
    expect(describeOutcome(await invite(buildAddress("once"), "owner", key))).toBe("409 idempotency_conflict");
    expect(await listMailTo(buildAddress("once"))).toHaveLength(1);
    expect(JSON.stringify(await readDatabaseContents())).not.toContain(buildAddress("once"));
  });

  test("returns 429 past the daily limit of invitations, and 409 member_limit past a hundred people", async () => {
    const few = createServiceCall({ LIMIT_INVITATIONS_PER_BUSINESS: "2/86400" });
    const outcomes = [];
    for (const name of ["a", "b", "c"])
      outcomes.push(describeOutcome(await callPortal(owner, "POST", "/members", { email: buildAddress(name), role: "member" }, {}, few)));
    expect(outcomes).toEqual(["201 ok", "201 ok", "429 rate_limited"]);
    await env.DB.batch(
      Array.from({ length: 97 }, (_, at) =>
        env.DB.prepare(
          "INSERT INTO invitations SELECT 'mem_' || ?, business_id, 'x' || ?, email_sealed, role, created_at, expires_at, invited_by FROM invitations WHERE business_id = ? LIMIT 1",
        ).bind(String(at), String(at), owner.id),
      ),
    );
    expect(describeOutcome(await invite(buildAddress("d")))).toBe("409 member_limit");
    await env.DB.prepare("DELETE FROM invitations WHERE business_id = ?").bind(owner.id).run();
  });

  test("sends an address one email a day from each business and ten more from all, which no response reveals", async () => {
    const email = buildAddress("flooded");
    const second = await signUpBusiness(buildAddress("second"));
    const inviteFrom = (business: Person) => callPortal(business, "POST", "/members", { email, role: "member" });
    for (let sent = 0; sent < 11; sent += 1) expect((await inviteFrom(owner)).status).toBe(201);
    expect(await listMailTo(email)).toHaveLength(11);
    expect((await inviteFrom(second)).status).toBe(201);
    expect(await listMailTo(email)).toHaveLength(12);
    for (const business of [owner, second]) {
      const further = await inviteFrom(business);
      expect([further.status, further.body.data.status]).toEqual([201, "invited"]);
    }
    expect(await listMailTo(email)).toHaveLength(12);
    await clearCodes();
    expect(describeOutcome(await callPortal(await acceptInvitation(email), "GET", ""))).toBe("200 ok");
  });

  test.each([
    ["no address", { role: "member" }],
    ["two addresses", { email: "a@example.com,b@example.com", role: "member" }],
    ["an unknown role", { email: "a@example.com", role: "admin" }],
    ["no role", { email: "a@example.com" }],
  ])("returns 400 invalid_request with %s and changes nothing", async (_name, body) => {
    const before = await readDatabaseContents();
    expect(describeOutcome(await callPortal(owner, "POST", "/members", body))).toBe("400 invalid_request");
    expect(await readDatabaseContents()).toEqual(before);
  });
});

/** Signs up another business. Unlike `signUpBusiness`, does not delete the codes and emails of earlier requests. */
const signUpWithPendingCodes = async (email: string): Promise<Person> => {
  await signUp(email);
  return { cookie: getCookie(await submitEmailCode(email, await findEmailCode(email), "business")) };
};

describe("PATCH /v1/business/portal/members/{id}", () => {
  test("takes effect at the next request", async () => {
    const member = await inviteAndJoin("lee");
    expect(describeOutcome(await callPortal(member, "PATCH", "", { contact_email: "a@example.com" }))).toBe("403 owner_required");
    expect((await callPortal(owner, "PATCH", `/members/${member.id}`, { role: "owner" })).body.data.role).toBe("owner");
    expect(describeOutcome(await callPortal(member, "PATCH", "", { contact_email: "a@example.com" }))).toBe("200 ok");
    await callPortal(owner, "PATCH", `/members/${member.id}`, { role: "member" });
    expect(describeOutcome(await callPortal(member, "PATCH", "", { contact_email: "b@example.com" }))).toBe("403 owner_required");
    expect((await listAuditEntryTypes(owner.id)).filter((type) => type === "member.role_changed")).toHaveLength(2);
  });

  test("returns 409 last_owner if it would demote the last owner, as DELETE does if it would remove them", async () => {
    const before = await listAuditEntryTypes(owner.id);
    expect(describeOutcome(await callPortal(owner, "PATCH", `/members/${owner.userId}`, { role: "member" }))).toBe("409 last_owner");
    expect(describeOutcome(await callPortal(owner, "DELETE", `/members/${owner.userId}`))).toBe("409 last_owner");
    expect(describeOutcome(await callPortal(owner, "DELETE", "/members/me"))).toBe("409 last_owner");
    expect(await listAuditEntryTypes(owner.id)).toEqual(before);
    expect(describeOutcome(await callPortal(owner, "GET", ""))).toBe("200 ok");
  });

  test("leaves one owner when two owners demote each other at the same time", async () => {
    const second = await inviteAndJoin("rival", "owner");
    const outcomes = (
      await Promise.all([
        callPortal(owner, "PATCH", `/members/${second.id}`, { role: "member" }),
        callPortal(second, "PATCH", `/members/${owner.userId}`, { role: "member" }),
      ])
    ).map(describeOutcome);
    expect(outcomes.filter((outcome) => outcome === "200 ok")).toHaveLength(1);
    expect((await list()).filter(({ role }) => role === "owner")).toHaveLength(1);
  });

  test("leaves one of two owners when they remove each other at the same time", async () => {
    const second = await inviteAndJoin("twin", "owner");
    await Promise.all([callPortal(owner, "DELETE", `/members/${second.id}`), callPortal(second, "DELETE", `/members/${owner.userId}`)]);
    const { results } = await env.DB.prepare("SELECT role FROM members WHERE business_id = ?").bind(owner.id).all();
    expect(results).toEqual([{ role: "owner" }]);
  });

  test("records one change when two requests give the same role at the same time", async () => {
    const member = await inviteAndJoin("pam");
    const change = (overtaken?: typeof call) => callPortal(owner, "PATCH", `/members/${member.id}`, { role: "owner" }, {}, overtaken);
    const responses: string[] = [];
    const overtaken = createOvertakenCall('update "members" set "role"', async () => {
      responses.push(describeOutcome(await change()));
    });
    responses.push(describeOutcome(await change(overtaken)));
    expect(responses).toEqual(["200 ok", "200 ok"]);
    expect((await listAuditEntryTypes(owner.id)).filter((type) => type === "member.role_changed")).toHaveLength(1);
  });

  test("changes nothing when the role is the same", async () => {
    const before = await readDatabaseContents();
    expect((await callPortal(owner, "PATCH", `/members/${owner.userId}`, { role: "owner" })).status).toBe(200);
    expect(await readDatabaseContents()).toEqual(before);
  });
});

describe("DELETE /v1/business/portal/members/{id}", () => {
  test("ends all sessions of the member immediately, and a new invitation works", async () => {
    const member = await inviteAndJoin("max");
    await clearCodes();
    const otherSession = await signIn(buildAddress("max"));
    expect((await callPortal(owner, "DELETE", `/members/${member.id}`)).body.data).toEqual({ deleted: true, id: member.id });
    for (const session of [member, otherSession]) expect(describeOutcome(await callPortal(session, "GET", ""))).toBe("401 unauthorized");
    const { results } = await env.DB.prepare("SELECT token_hash FROM sessions WHERE user_id = ?").bind(member.id).all();
    expect(results).toEqual([]);
    await invite(buildAddress("max"));
    expect(describeOutcome(await callPortal(await accept(buildAddress("max")), "GET", ""))).toBe("200 ok");
  });

  test("lets members leave, and then sign up their own business", async () => {
    const member = await inviteAndJoin("ann");
    expect((await callPortal(member, "DELETE", "/members/me")).body.data).toEqual({ deleted: true, id: member.id });
    expect(describeOutcome(await callPortal(member, "GET", ""))).toBe("401 unauthorized");
    expect((await signUpBusiness(buildAddress("ann"))).id).not.toBe(owner.id);
  });
});

describe("DELETE /v1/business/portal/members/{id} while another request is in progress", () => {
  const remove = (id: string, overtaken?: typeof call) => callPortal(owner, "DELETE", `/members/${id}`, undefined, {}, overtaken);
  const listRemovals = async () => (await listAuditEntryTypes(owner.id)).filter((type) => type === "member.removed");

  test.each(["member", "invitation"])("records one removal when two requests remove the same %s", async (kind) => {
    const email = buildAddress(kind);
    const { id } = kind === "member" ? await inviteAndJoin(kind) : (await invite(email)).body.data;
    const responses: string[] = [];
    const overtaken = createOvertakenCall(kind === "member" ? 'delete from "members"' : 'delete from "invitations"', async () => {
      responses.push(describeOutcome(await remove(id)));
    });
    responses.push(describeOutcome(await remove(id, overtaken)));
    expect(responses).toEqual(["200 ok", "404 not_found"]);
    expect(await listRemovals()).toHaveLength(1);
  });

  test("removes a person who accepts the invitation at the same moment", async () => {
    const email = buildAddress("quick");
    const { id } = (await invite(email)).body.data;
    let joined: Person | undefined;
    const overtaken = createOvertakenCall('delete from "invitations"', async () => {
      joined = await accept(email);
    });
    expect(describeOutcome(await remove(id, overtaken))).toBe("200 ok");
    expect(describeOutcome(await callPortal(joined as Person, "GET", ""))).toBe("401 unauthorized");
    expect(await listRemovals()).toHaveLength(1);
  });
});

describe("permissions on members", () => {
  test("let members read and owners change; another business's owner gets 404, a consumer 403", async () => {
    const member = await inviteAndJoin("mia");
    expect(describeOutcome(await callPortal(member, "GET", "/members"))).toBe("200 ok");
    await clearCodes();
    const consumer = await signIn(world.consumerEmail, "consumer");
    const other = await signInAgain(world.otherOwnerEmail);
    const before = await readDatabaseContents();
    const body = { email: "x@example.com", role: "member" };
    for (const [method, path, sent] of [
      ["POST", "/members", body],
      ["PATCH", `/members/${owner.userId}`, { role: "member" }],
      ["DELETE", `/members/${owner.userId}`, undefined],
    ] as const) {
      expect(describeOutcome(await callPortal(member, method, path, sent)), path).toBe("403 owner_required");
      expect(describeOutcome(await callPortal(consumer, method, path, sent)), path).toBe("403 forbidden");
      expect(describeOutcome(await callPortal(null, method, path, sent)), path).toBe("401 unauthorized");
      expect(describeOutcome(await callPortal(owner, method, path, sent, { origin: "https://evil.example" })), path).toBe(
        "403 csrf_failed",
      );
      if (method !== "POST") expect(describeOutcome(await callPortal(other, method, path, sent)), path).toBe("404 not_found");
    }
    expect(describeOutcome(await callPortal(consumer, "GET", "/members"))).toBe("403 forbidden");
    expect(JSON.stringify(await list(other))).not.toContain("gutters.example");
    expect(await readDatabaseContents()).toEqual(before);
    expect(await countRows(["invitations"])).toBeDefined();
    expect((await call("/v1/business/portal/members/mem_unknown", { method: "DELETE", headers: { cookie: owner.cookie } })).status).toBe(
      404,
    );
  });
});
