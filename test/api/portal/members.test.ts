// Who acts for a business: invitations that occupy nobody's address, roles, the owner that stays, sessions that end.
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, test } from "vitest";
import { askForCode, codeFor, cookieOf, forgetCodes, giveCode, mailsTo, signIn } from "../../support/people.ts";
import { as, entriesOf, newBusiness, outcome, signUp, type Person } from "../../support/portal.ts";
import { call, databaseContents, rowCounts, serviceWith, world } from "../../support/world.ts";

let round = 0;
let owner: Person & { id: string; userId: string };
const address = (name: string) => `${name}-${round}@gutters.example`;

beforeEach(async () => {
  round += 1;
  owner = await newBusiness(address("owner"));
});

const invite = (email: string, role = "member", headers: Record<string, string> = {}) =>
  as(owner, "POST", "/members", { email, role }, headers);
const accept = async (email: string): Promise<Person> => {
  await forgetCodes();
  return signIn(email);
};
const joined = async (name: string, role = "member"): Promise<Person & { id: string }> => {
  const { id } = (await invite(address(name), role)).body.data;
  return { id, ...(await accept(address(name))) };
};
const list = async (person: Person = owner) => (await as(person, "GET", "/members")).body.data.members as Record<string, unknown>[];

describe("an invitation", () => {
  test("is mailed, and makes a member of whoever signs in with its address", async () => {
    const email = address("sam");
    const invited = await invite(email);
    expect(invited.status).toBe(201);
    expect(invited.body.data).toEqual({
      id: expect.stringMatching(/^mem_/),
      email,
      role: "member",
      status: "invited",
      invited_until: expect.any(String),
      created_at: expect.any(String),
    });
    const [mail] = await mailsTo(email);
    expect(mail?.text).toContain("Fresh Roofs LLC");
    expect(mail?.text).toContain("/portal/sign-in");
    await forgetCodes();
    await askForCode(email, "business");
    const signedIn = await giveCode(email, await codeFor(email), "business");
    expect(signedIn.body.data).toEqual({
      user: { id: invited.body.data.id, email, realm: "business", role: "member", business_id: owner.id },
      created: true,
    });
    expect((await list()).map(({ email: of, status, role }) => [of, status, role])).toEqual([
      [address("owner"), "active", "owner"],
      [email, "active", "member"],
    ]);
    expect(await entriesOf(owner.id)).toEqual(["business.signed_up", "member.invited", "member.joined"]);
  });

  test("gives the role it names at that moment", async () => {
    const { id } = (await invite(address("kim"))).body.data;
    expect((await as(owner, "PATCH", `/members/${id}`, { role: "owner" })).body.data).toMatchObject({ role: "owner", status: "invited" });
    const kim = await accept(address("kim"));
    expect((await as(kim, "GET", "")).body.data.user.role).toBe("owner");
  });

  test("that was taken back, or has expired, opens nothing", async () => {
    const first = (await invite(address("one"))).body.data;
    expect((await as(owner, "DELETE", `/members/${first.id}`)).body.data).toEqual({ deleted: true, id: first.id });
    await invite(address("two"));
    await env.DB.prepare("UPDATE invitations SET expires_at = 1").run();
    for (const name of ["one", "two"]) {
      await forgetCodes();
      await askForCode(address(name), "business");
      expect(await mailsTo(address(name))).toEqual([]);
    }
    expect(await list()).toHaveLength(1);
  });

  test("that is taken back while its code is on the way opens nothing", async () => {
    const { id } = (await invite(address("late"))).body.data;
    await forgetCodes();
    await askForCode(address("late"), "business");
    const code = await codeFor(address("late"));
    await as(owner, "DELETE", `/members/${id}`);
    expect(outcome(await giveCode(address("late"), code, "business"))).toBe("400 login_failed");
  });

  test("never occupies an address: its owner can open an account of their own", async () => {
    const email = address("wanted");
    await invite(email, "owner");
    const own = await newBusiness(email, { business_name: "My own" });
    expect(own.id).not.toBe(owner.id);
    expect((await as(own, "GET", "")).body.data.business.name).toBe("My own");
  });

  test("of somebody who belongs to another business answers the same, and takes them from nowhere", async () => {
    const known = await invite(world.otherOwnerEmail);
    const unknown = await invite(address("nobody"));
    const shape = ({ status, body }: typeof known) => [status, Object.keys(body.data), body.data.status];
    expect(shape(known)).toEqual(shape(unknown));
    const other = await accept(world.otherOwnerEmail);
    expect((await as(other, "GET", "")).body.data.business.id).toBe(world.other.id);
  });

  test("of a member is refused; a second of the same address takes the place of the first", async () => {
    expect(outcome(await invite(address("owner")))).toBe("400 invalid_request");
    const first = (await invite(address("twice"))).body.data;
    const second = (await invite(address("twice"), "owner")).body.data;
    expect((await list()).slice(1).map(({ id, role }) => [id, role])).toEqual([[second.id, "owner"]]);
    expect(outcome(await as(owner, "DELETE", `/members/${first.id}`))).toBe("404 not_found");
  });

  test("code that opens one business's invitation never opens another's", async () => {
    const email = address("between");
    const { id } = (await invite(email)).body.data;
    await forgetCodes();
    await askForCode(email, "business");
    const code = await codeFor(email);
    const stranger = await newBusinessKeeping(address("stranger"));
    await as(owner, "DELETE", `/members/${id}`);
    await as(stranger, "POST", "/members", { email, role: "member" });
    expect(outcome(await giveCode(email, code, "business"))).toBe("400 login_failed");
  });

  test("under one idempotency key is one, with one mail", async () => {
    const key = { "idempotency-key": "invite-1" };
    const [first, second] = [await invite(address("once"), "member", key), await invite(address("once"), "member", key)];
    expect([second.headers.get("idempotency-replayed"), second.body.data]).toEqual(["true", first.body.data]);
    expect(outcome(await invite(address("once"), "owner", key))).toBe("409 idempotency_conflict");
    expect(await mailsTo(address("once"))).toHaveLength(1);
    expect(JSON.stringify(await databaseContents())).not.toContain(address("once"));
  });

  test("is one of thirty in a day, and of a hundred people", async () => {
    const few = serviceWith({ LIMIT_INVITATIONS_PER_BUSINESS: "2/86400" });
    const outcomes = [];
    for (const name of ["a", "b", "c"])
      outcomes.push(outcome(await as(owner, "POST", "/members", { email: address(name), role: "member" }, {}, few)));
    expect(outcomes).toEqual(["201 ok", "201 ok", "429 rate_limited"]);
    await env.DB.batch(
      Array.from({ length: 97 }, (_, at) =>
        env.DB.prepare(
          "INSERT INTO invitations SELECT 'mem_' || ?, business_id, 'x' || ?, email_sealed, role, created_at, expires_at FROM invitations WHERE business_id = ? LIMIT 1",
        ).bind(String(at), String(at), owner.id),
      ),
    );
    expect(outcome(await invite(address("d")))).toBe("409 member_limit");
    await env.DB.prepare("DELETE FROM invitations WHERE business_id = ?").bind(owner.id).run();
  });

  test.each([
    ["no address", { role: "member" }],
    ["two addresses", { email: "a@example.com,b@example.com", role: "member" }],
    ["a role that is none", { email: "a@example.com", role: "admin" }],
    ["no role", { email: "a@example.com" }],
  ])("with %s is refused and changes nothing", async (_name, body) => {
    const before = await databaseContents();
    expect(outcome(await as(owner, "POST", "/members", body))).toBe("400 invalid_request");
    expect(await databaseContents()).toEqual(before);
  });
});

/** Another business, without losing the codes that are on their way. */
const newBusinessKeeping = async (email: string): Promise<Person> => {
  await signUp(email);
  return { cookie: cookieOf(await giveCode(email, await codeFor(email), "business")) };
};

describe("a role", () => {
  test("counts from the next request on", async () => {
    const member = await joined("lee");
    expect(outcome(await as(member, "PATCH", "", { contact_email: "a@example.com" }))).toBe("403 owner_required");
    expect((await as(owner, "PATCH", `/members/${member.id}`, { role: "owner" })).body.data.role).toBe("owner");
    expect(outcome(await as(member, "PATCH", "", { contact_email: "a@example.com" }))).toBe("200 ok");
    await as(owner, "PATCH", `/members/${member.id}`, { role: "member" });
    expect(outcome(await as(member, "PATCH", "", { contact_email: "b@example.com" }))).toBe("403 owner_required");
    expect((await entriesOf(owner.id)).filter((type) => type === "member.role_changed")).toHaveLength(2);
  });

  test("of the last owner stays, and nobody takes it away", async () => {
    const before = await entriesOf(owner.id);
    expect(outcome(await as(owner, "PATCH", `/members/${owner.userId}`, { role: "member" }))).toBe("409 last_owner");
    expect(outcome(await as(owner, "DELETE", `/members/${owner.userId}`))).toBe("409 last_owner");
    expect(outcome(await as(owner, "DELETE", "/members/me"))).toBe("409 last_owner");
    expect(await entriesOf(owner.id)).toEqual(before);
    expect(outcome(await as(owner, "GET", ""))).toBe("200 ok");
  });

  test("taken from each other by two owners at once leaves one of them", async () => {
    const second = await joined("rival", "owner");
    const outcomes = (
      await Promise.all([
        as(owner, "PATCH", `/members/${second.id}`, { role: "member" }),
        as(second, "PATCH", `/members/${owner.userId}`, { role: "member" }),
      ])
    ).map(outcome);
    expect(outcomes.filter((one) => one === "200 ok")).toHaveLength(1);
    expect((await list()).filter(({ role }) => role === "owner")).toHaveLength(1);
  });

  test("removing each other at once leaves one of two owners", async () => {
    const second = await joined("twin", "owner");
    await Promise.all([as(owner, "DELETE", `/members/${second.id}`), as(second, "DELETE", `/members/${owner.userId}`)]);
    const { results } = await env.DB.prepare("SELECT role FROM members WHERE business_id = ?").bind(owner.id).all();
    expect(results).toEqual([{ role: "owner" }]);
  });

  test("does not change where it is that already", async () => {
    const before = await databaseContents();
    expect((await as(owner, "PATCH", `/members/${owner.userId}`, { role: "owner" })).status).toBe(200);
    expect(await databaseContents()).toEqual(before);
  });
});

describe("a member who is removed", () => {
  test("is out at once, in every session, and may come back by another invitation", async () => {
    const member = await joined("max");
    await forgetCodes();
    const elsewhere = await signIn(address("max"));
    expect((await as(owner, "DELETE", `/members/${member.id}`)).body.data).toEqual({ deleted: true, id: member.id });
    for (const session of [member, elsewhere]) expect(outcome(await as(session, "GET", ""))).toBe("401 unauthorized");
    const { results } = await env.DB.prepare("SELECT token_hash FROM sessions WHERE user_id = ?").bind(member.id).all();
    expect(results).toEqual([]);
    await invite(address("max"));
    expect(outcome(await as(await accept(address("max")), "GET", ""))).toBe("200 ok");
  });

  test("may leave by themselves, and open a business of their own", async () => {
    const member = await joined("ann");
    expect((await as(member, "DELETE", "/members/me")).body.data).toEqual({ deleted: true, id: member.id });
    expect(outcome(await as(member, "GET", ""))).toBe("401 unauthorized");
    expect((await newBusiness(address("ann"))).id).not.toBe(owner.id);
  });
});

describe("who may do it", () => {
  test("a member reads and does nothing else; a consumer nothing; another business's owner finds nobody", async () => {
    const member = await joined("mia");
    expect(outcome(await as(member, "GET", "/members"))).toBe("200 ok");
    await forgetCodes();
    const consumer = await signIn(world.consumerEmail, "consumer");
    const other = await accept(world.otherOwnerEmail);
    const before = await databaseContents();
    const body = { email: "x@example.com", role: "member" };
    for (const [method, path, sent] of [
      ["POST", "/members", body],
      ["PATCH", `/members/${owner.userId}`, { role: "member" }],
      ["DELETE", `/members/${owner.userId}`, undefined],
    ] as const) {
      expect(outcome(await as(member, method, path, sent)), path).toBe("403 owner_required");
      expect(outcome(await as(consumer, method, path, sent)), path).toBe("403 forbidden");
      expect(outcome(await as(null, method, path, sent)), path).toBe("401 unauthorized");
      expect(outcome(await as(owner, method, path, sent, { origin: "https://evil.example" })), path).toBe("403 csrf_failed");
      if (method !== "POST") expect(outcome(await as(other, method, path, sent)), path).toBe("404 not_found");
    }
    expect(outcome(await as(consumer, "GET", "/members"))).toBe("403 forbidden");
    expect(JSON.stringify(await list(other))).not.toContain("gutters.example");
    expect(await databaseContents()).toEqual(before);
    expect(await rowCounts(["invitations"])).toBeDefined();
    expect((await call("/v1/business/portal/members/mem_unknown", { method: "DELETE", headers: { cookie: owner.cookie } })).status).toBe(
      404,
    );
  });
});
