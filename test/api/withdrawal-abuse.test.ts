// Tests attacks on withdrawals: the threats O1 to O12, O15, O17 and O18 of docs/internals/security.md.
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toStoredIndex } from "../../core/access/address-index.ts";
import { getCeaseDeadline } from "../../core/cease-deadline.ts";
import { formatDate } from "../../core/mail/formatting.ts";
import { sha256Hex } from "../../core/hash.ts";
import type { DemoBusiness } from "../../scripts/demo-world.ts";
import { openVault } from "../../storage/vault.ts";
import { loadConfig } from "../../workers/env.ts";
import {
  call,
  submitConsent,
  readDatabaseContents,
  getWithKey,
  issueCertificate,
  createServiceCall,
  buildSubmission,
  world,
  type TestResponse,
} from "../support/world.ts";
import { forgetOwnerNotices } from "../support/people.ts";
import {
  submitWithdrawalCode,
  requestWithdrawalCode,
  listCodes,
  getCookies,
  createEmailAddress,
  issueToNewPerson,
  buildJsonPost,
  listLinkTokens,
  listMailTo,
  createDifferentCode,
  startWithdrawal,
  countTraces,
  withdrawCertificate,
} from "../support/withdrawal.ts";

const atOnce = Number(env.AT_ONCE); // `npm run stress` sets 1,000
const describeOutcome = (response: TestResponse): string => `${response.status} ${response.body?.error?.code ?? "ok"}`;
const withoutRequestId = (response: TestResponse): string => response.text.replace(response.body.request_id, "");
const issueForOtherBusiness = async (email: string): Promise<{ readonly certId: string }> => {
  const body = { ...buildSubmission(world.other), page_url: "https://other.example/", fields: { email } };
  return { certId: (await submitConsent(body, { origin: "https://other.example" })).body.data.cert_id };
};
const isActive = async (certId: string): Promise<boolean> => (await getWithKey(`/v1/certs/${certId}/verify`)).body.data.status === "active";
const tables = ["email_codes", "email_code_failures", "mail_outbox", "audit_entries", "anchors", "withdrawals"];
const events = "(SELECT COUNT(*) FROM changes WHERE sequence IS NOT NULL) AS events";

/** Runs `work` and returns how many rows it added to each table. */
const countAddedRows = async (work: () => Promise<unknown>): Promise<Record<string, number>> => {
  const count = async (): Promise<Record<string, number>> =>
    (await env.DB.prepare(
      `SELECT ${tables.map((name) => `COALESCE((SELECT seq FROM sqlite_sequence WHERE name = '${name}'), (SELECT COUNT(*) FROM ${name})) AS ${name}`).join(", ")}, ${events}`,
    ).first()) as Record<string, number>;
  const before = await count();
  await work();
  const after = await count();
  return Object.fromEntries(tables.map((name) => [name, (after[name] as number) - (before[name] as number)]));
};

describe("O1: whether an address is on a certificate", () => {
  const summarizeResponse = (response: TestResponse) => ({
    status: response.status,
    body: withoutRequestId(response),
    headers: [...response.headers]
      .filter(([name]) => !["x-request-id", "ratelimit-remaining", "ratelimit-reset"].includes(name))
      .map(([name, value]) => [name, name === "set-cookie" ? value.replace(/=[A-Za-z0-9_-]{43};/, "=;") : value]),
  });

  test("is not revealed by the response to a request or by the rows it writes", async () => {
    const issued = await issueToNewPerson();
    const stranger = createEmailAddress();
    const responses: TestResponse[] = [];
    const hit = await countAddedRows(async () => responses.push(await requestWithdrawalCode(issued.certId, issued.email)));
    const miss = await countAddedRows(async () => responses.push(await requestWithdrawalCode(issued.certId, stranger)));
    const [first, second] = responses as [TestResponse, TestResponse];
    expect(first.body.data).toEqual({ accepted: true });
    expect(summarizeResponse(second)).toEqual(summarizeResponse(first));
    expect(hit).toMatchObject({ email_codes: 1, mail_outbox: 1, audit_entries: 1 });
    expect(miss).toEqual({ ...hit, audit_entries: 0 }); // the audit log records only emails that were sent
    expect(await listCodes(issued.email)).toHaveLength(1);
    expect(await listMailTo(stranger)).toEqual([]);
  });

  test("is not revealed by a refusal: wrong address, wrong code, no code, expired code and no attempts left look the same", async () => {
    const issued = await issueToNewPerson();
    const refused: TestResponse[] = [await submitWithdrawalCode(issued.certId, { email: issued.email, code: "000000" })];
    const { code, cookie } = await startWithdrawal(issued.certId, issued.email);
    const stranger = createEmailAddress();
    await requestWithdrawalCode(issued.certId, stranger);
    refused.push(await submitWithdrawalCode(issued.certId, { email: stranger, code }, cookie));
    refused.push(await submitWithdrawalCode(issued.certId, { email: createEmailAddress(), code }));
    refused.push(await submitWithdrawalCode(issued.certId, { email: issued.email, code: createDifferentCode(code) }, cookie));
    const callLater = createServiceCall({ DEV_CLOCK_OFFSET_MS: String(10 * 60_000) });
    refused.push(await submitWithdrawalCode(issued.certId, { email: issued.email, code }, cookie, callLater));
    for (let attempt = 0; attempt < 5; attempt += 1)
      refused.push(await submitWithdrawalCode(issued.certId, { email: issued.email, code: createDifferentCode(code) }, cookie));
    refused.push(await submitWithdrawalCode(issued.certId, { email: issued.email, code }, cookie));
    for (const response of refused) expect(summarizeResponse(response)).toEqual(summarizeResponse(refused[0] as TestResponse));
    expect(describeOutcome(refused[0] as TestResponse)).toBe("400 opt_out_failed");
    expect(await isActive(issued.certId)).toBe(true);
  });

  test("is not revealed by a limit: above it, every address gets the same response and the same rows, and no email is sent", async () => {
    const issued = await issueToNewPerson();
    const stranger = createEmailAddress();
    for (const address of [issued.email, stranger])
      for (let count = 0; count < 3; count += 1) await requestWithdrawalCode(issued.certId, address);
    const grown: Record<string, number>[] = [];
    for (const address of [issued.email, stranger, createEmailAddress()]) {
      grown.push(
        await countAddedRows(async () => {
          expect((await requestWithdrawalCode(issued.certId, address)).body.data).toEqual({ accepted: true });
        }),
      );
    }
    expect(grown[0]).toMatchObject({ email_codes: 1, mail_outbox: 1, audit_entries: 0 });
    expect(grown[1]).toEqual(grown[0]);
    expect(grown[2]).toEqual(grown[0]); // the same rows as for an address below the limits
    expect(await listCodes(issued.email)).toHaveLength(3);
  });

  test("cannot be probed above a limit, because a code requested above it is expired from the start", async () => {
    const issued = await issueToNewPerson();
    const requests = [await requestWithdrawalCode(issued.certId, issued.email)];
    for (let count = 0; count < 3; count += 1) requests.push(await requestWithdrawalCode(issued.certId, issued.email));
    const { results } = await env.DB.prepare(
      "SELECT expires_at - created_at AS life FROM email_codes WHERE address_index = (SELECT email_indexes ->> 0 FROM certificates WHERE id = ?) ORDER BY life",
    )
      .bind(issued.certId)
      .all<{ life: number }>();
    expect(results.map(({ life }) => life)).toEqual([0, 600_000, 600_000, 600_000]);
  });

  test("is not revealed by the stored code, which has the same form for every address", async () => {
    const issued = await issueToNewPerson();
    await requestWithdrawalCode(issued.certId, issued.email);
    await requestWithdrawalCode(issued.certId, createEmailAddress());
    const { results } = await env.DB.prepare("SELECT * FROM email_codes ORDER BY rowid DESC LIMIT 2").all();
    const maskRow = (row: Record<string, unknown>) =>
      Object.entries(row).map(([name, value]) => [name, String(value).replaceAll(/[0-9a-f]/g, "x")]);
    expect(maskRow(results[0] as never)).toEqual(maskRow(results[1] as never));
  });

  test("is not checked for an unknown certificate, which returns 404 cert_not_found", async () => {
    const unknownId = "cc_00zzzzzzzzzzzzzzzzzzzzzzzz";
    expect(describeOutcome(await requestWithdrawalCode(unknownId, "pat@example.com"))).toBe("404 cert_not_found");
    expect(describeOutcome(await submitWithdrawalCode(unknownId, { email: "pat@example.com", code: "123456" }))).toBe("404 cert_not_found");
  });
});

describe("O2: guessing", () => {
  test("is limited to ten comparisons per code, even for many concurrent guesses", { timeout: 120_000 }, async () => {
    const issued = await issueToNewPerson();
    const { code, cookie } = await startWithdrawal(issued.certId, issued.email);
    const wrong = createDifferentCode(code);
    // Half of the guesses are the correct code. Each correct guess that the service checks either withdraws the certificate or finds it
    // already withdrawn.
    const guesses = Array.from({ length: atOnce }, (_, at) => (at % 2 === 0 ? wrong : code));
    const responses = await Promise.all(
      guesses.map((guess, at) => submitWithdrawalCode(issued.certId, { email: issued.email, code: guess }, at % 4 < 2 ? cookie : {})),
    );
    const row = await env.DB.prepare(
      "SELECT same_context_attempts, other_context_attempts FROM email_codes WHERE address_index = (SELECT email_indexes ->> 0 FROM certificates WHERE id = ?)",
    )
      .bind(issued.certId)
      .first();
    expect(row).toEqual({ same_context_attempts: 5, other_context_attempts: 5 });
    expect(responses.filter((response) => describeOutcome(response) !== "400 opt_out_failed").length).toBeLessThanOrEqual(10);
    expect(responses.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
  });

  test("is refused after five attempts from the browser that requested the code, even with the correct code", async () => {
    const issued = await issueToNewPerson();
    const { code, cookie } = await startWithdrawal(issued.certId, issued.email);
    for (let attempt = 0; attempt < 5; attempt += 1)
      await submitWithdrawalCode(issued.certId, { email: issued.email, code: createDifferentCode(code) }, cookie);
    expect(describeOutcome(await submitWithdrawalCode(issued.certId, { email: issued.email, code }, cookie))).toBe("400 opt_out_failed");
  });

  test("is limited to thirty submitted codes an hour per network address", async () => {
    const issued = await issueToNewPerson();
    const strict = createServiceCall({ DEV_RATE_SCALE: "1" });
    const from = { "cf-connecting-ip": "203.0.113.10" };
    const outcomes: string[] = [];
    for (let count = 0; count < 31; count += 1)
      outcomes.push(describeOutcome(await submitWithdrawalCode(issued.certId, { email: issued.email, code: "000000" }, from, strict)));
    expect(new Set(outcomes.slice(0, 30))).toEqual(new Set(["400 opt_out_failed"]));
    expect(outcomes[30]).toBe("429 rate_limited");
  });

  test("slows codes to one a day after a hundred wrong codes in a row, until a correct one", async () => {
    const issued = await issueToNewPerson();
    await startWithdrawal(issued.certId, issued.email);
    const at = env.DB.prepare(
      "UPDATE email_code_failures SET failures = ? WHERE address_index = (SELECT email_indexes ->> 0 FROM certificates WHERE id = ?)",
    );
    await submitWithdrawalCode(issued.certId, { email: issued.email, code: "000000" });
    await at.bind(100, issued.certId).run();
    await requestWithdrawalCode(issued.certId, issued.email);
    expect(await listCodes(issued.email)).toHaveLength(1);
    await at.bind(99, issued.certId).run();
    await requestWithdrawalCode(issued.certId, issued.email);
    expect(await listCodes(issued.email)).toHaveLength(2);
  });

  test("stays slow after a withdrawal with a manage link, which anyone gets who submits a form with the person's address", async () => {
    const issued = await issueToNewPerson();
    await startWithdrawal(issued.certId, issued.email);
    await submitWithdrawalCode(issued.certId, { email: issued.email, code: "000000" });
    const ofAddress = "WHERE address_index = (SELECT email_indexes ->> 0 FROM certificates WHERE id = ?)";
    await env.DB.prepare(`UPDATE email_code_failures SET failures = 100 ${ofAddress}`).bind(issued.certId).run();
    for (const entities of [["Roof Right"], undefined]) {
      const { certId, manageToken } = await issueToNewPerson({
        fields: { email: issued.email },
        entities: ["Acme Solar LLC", "Roof Right"],
      });
      const withdrawn = await call(
        `/v1/certs/${certId}/opt-out/manage`,
        buildJsonPost({ token: manageToken, ...(entities && { entities }) }),
      );
      expect(describeOutcome(withdrawn)).toBe("200 ok");
    }
    await requestWithdrawalCode(issued.certId, issued.email);
    expect(await listCodes(issued.email)).toHaveLength(1);
  });

  test("does not count against the person while no code is outstanding", async () => {
    const issued = await issueToNewPerson();
    for (let attempt = 0; attempt < 8; attempt += 1) await submitWithdrawalCode(issued.certId, { email: issued.email, code: "000000" });
    const failures = await env.DB.prepare(
      "SELECT failures FROM email_code_failures WHERE address_index = (SELECT email_indexes ->> 0 FROM certificates WHERE id = ?)",
    )
      .bind(issued.certId)
      .first("failures");
    expect(failures).toBe(0);
  });
});

describe("O2: a copy of the database", () => {
  test("contains neither codes nor links, nor hashes that guesses could be tested against", async () => {
    const issued = await issueToNewPerson();
    const { code } = await startWithdrawal(issued.certId, issued.email);
    const [token] = await listLinkTokens(issued.email);
    const row = await env.DB.prepare(
      "SELECT * FROM email_codes WHERE address_index = (SELECT email_indexes ->> 0 FROM certificates WHERE id = ?)",
    )
      .bind(issued.certId)
      .first();
    expect(row?.code_hash).toMatch(/^[0-9a-f]{32}$/);
    expect(sha256Hex(code)).not.toContain(row?.code_hash);
    for (const secret of [token as string, sha256Hex(token as string)]) expect(JSON.stringify(row)).not.toContain(secret);
    expect(JSON.stringify(await readDatabaseContents())).not.toContain(token);
  });
});

describe("O3: locking the person out", () => {
  test("is impossible with wrong guesses, which use no attempts of the browser that requested the code", async () => {
    const issued = await issueToNewPerson();
    const { code, cookie } = await startWithdrawal(issued.certId, issued.email);
    for (let attempt = 0; attempt < 20; attempt += 1)
      await submitWithdrawalCode(issued.certId, { email: issued.email, code: createDifferentCode(code) });
    expect(describeOutcome(await submitWithdrawalCode(issued.certId, { email: issued.email, code }, cookie))).toBe("200 ok");
  });

  test("is impossible with more requests, which cancel no code", async () => {
    const issued = await issueToNewPerson();
    const { code, cookie } = await startWithdrawal(issued.certId, issued.email);
    for (let times = 0; times < 4; times += 1) await requestWithdrawalCode(issued.certId, issued.email);
    expect(describeOutcome(await submitWithdrawalCode(issued.certId, { email: issued.email, code }, cookie))).toBe("200 ok");
  });

  test("is impossible by using up every code and attempt, because each email contains a link that works for a day", async () => {
    const issued = await issueToNewPerson();
    const late = createServiceCall({ DEV_CLOCK_OFFSET_MS: String(3_600_000) });
    for (let times = 0; times < 4; times += 1) await requestWithdrawalCode(issued.certId, issued.email);
    for (let attempt = 0; attempt < 6; attempt += 1) await submitWithdrawalCode(issued.certId, { email: issued.email, code: "000000" });
    const { code, cookie } = await startWithdrawal(issued.certId, issued.email);
    expect(describeOutcome(await submitWithdrawalCode(issued.certId, { email: issued.email, code }, cookie))).toBe("400 opt_out_failed");
    const tapLink = (token: string, send = call) => send(`/v1/certs/${issued.certId}/opt-out/manage`, buildJsonPost({ token }));
    const tokens = await listLinkTokens(issued.email);
    expect(new Set(tokens).size).toBe(3);
    const dayLater = createServiceCall({ DEV_CLOCK_OFFSET_MS: String(86_400_000 + 60_000) });
    expect(describeOutcome(await tapLink(tokens[0] as string, dayLater))).toBe("400 opt_out_failed");
    expect(describeOutcome(await tapLink(tokens[0] as string, late))).toBe("200 ok");
    expect(describeOutcome(await tapLink(tokens[2] as string))).toBe("409 already_revoked");
    const { withdrawal } = (await getWithKey(`/v1/certs/${issued.certId}/verify`)).body.data;
    expect(withdrawal.method).toBe("email_code");
  });

  test("is impossible with links: an emailed link works only for certificates of that business and address, and one that was never sent works for none", async () => {
    const email = createEmailAddress();
    const [issued, second, another] = [
      await issueToNewPerson({ fields: { email } }),
      await issueToNewPerson({ fields: { email } }),
      await issueToNewPerson(),
    ];
    const otherIssued = await issueForOtherBusiness(email);
    await requestWithdrawalCode(issued.certId, email);
    const [token] = await listLinkTokens(email);
    const tapLink = (certId: string, enteredToken: string) =>
      call(`/v1/certs/${certId}/opt-out/manage`, buildJsonPost({ token: enteredToken }));
    for (const certId of [another.certId, otherIssued.certId])
      expect(describeOutcome(await tapLink(certId, token as string))).toBe("400 opt_out_failed");
    // These tokens were never sent. The test creates them with the service's own keys: one for a code to a different address, and one for a
    // code above a limit.
    const { linkToken } = await openVault(loadConfig(env));
    const readNewestToken = async (): Promise<string> => {
      const id = await env.DB.prepare("SELECT id FROM email_codes ORDER BY rowid DESC LIMIT 1").first<string>("id");
      return linkToken(`withdrawal ${id}`);
    };
    const unsent: string[] = [];
    await requestWithdrawalCode(second.certId, createEmailAddress());
    unsent.push(await readNewestToken());
    for (let times = 0; times < 3; times += 1) await requestWithdrawalCode(second.certId, email);
    unsent.push(await readNewestToken());
    expect(await listLinkTokens(email)).toHaveLength(3);
    for (const one of unsent) expect(describeOutcome(await tapLink(second.certId, one))).toBe("400 opt_out_failed");
    expect(describeOutcome(await tapLink(second.certId, token as string))).toBe("200 ok");
    expect(describeOutcome(await tapLink(issued.certId, token as string))).toBe("200 ok");
  });

  test("is impossible with requests on other people's certificates, which use up none of the person's emails", async () => {
    const issued = await issueToNewPerson();
    for (let count = 0; count < 7; count += 1) {
      const { certId } = await issueToNewPerson();
      for (let times = 0; times < 3; times += 1) await requestWithdrawalCode(certId, issued.email);
    }
    expect(await listMailTo(issued.email)).toHaveLength(0);
    await withdrawCertificate(issued);
  });

  test("O18: is impossible with forged certificates of the business, because a code requested there works for the person's own", async () => {
    const issued = await issueToNewPerson();
    for (let count = 0; count < 7; count += 1) {
      const forged = await issueToNewPerson({ fields: { email: issued.email } });
      for (let times = 0; times < 3; times += 1) await requestWithdrawalCode(forged.certId, issued.email);
    }
    const [code] = await listCodes(issued.email);
    expect(describeOutcome(await submitWithdrawalCode(issued.certId, { email: issued.email, code }))).toBe("200 ok");
  });

  test("O18: forged certificates of other businesses use up no code of the person's own", async () => {
    const issued = await issueToNewPerson();
    const forged = await issueForOtherBusiness(issued.email);
    const insertOther = env.DB.prepare(
      "UPDATE email_codes SET topic = ? WHERE address_index = (SELECT email_indexes ->> 0 FROM certificates WHERE id = ?)",
    );
    for (let business = 0; business < 12; business += 1) {
      for (let times = 0; times < 3; times += 1) await requestWithdrawalCode(forged.certId, issued.email);
      // Reassigns the codes to one other business, so that they use up that business's limit of three and the address's limit of twenty.
      await insertOther.bind("biz_busy live", issued.certId).run();
    }
    expect((await listMailTo(issued.email)).length).toBe(36);
    for (let times = 1; times <= 4; times += 1) {
      await requestWithdrawalCode(issued.certId, issued.email);
      expect((await listMailTo(issued.email)).length).toBe(36 + Math.min(times, 3));
    }
    const [code] = await listCodes(issued.email);
    expect(describeOutcome(await submitWithdrawalCode(issued.certId, { email: issued.email, code }))).toBe("200 ok");
  });

  test("is impossible with a second request, which keeps the browser's context", async () => {
    const issued = await issueToNewPerson();
    const first = await requestWithdrawalCode(issued.certId, issued.email);
    const repeated = await requestWithdrawalCode(issued.certId, issued.email, getCookies(first));
    expect(getCookies(repeated)).toEqual(getCookies(first));
    expect(first.headers.get("set-cookie")).toMatch(/^svc_withdrawal=[A-Za-z0-9_-]{43}; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax$/);
  });
});

describe("O17: a forged submission", () => {
  test("in the person's name returns a link that withdraws only itself", async () => {
    const issued = await issueToNewPerson();
    const forged = await issueToNewPerson({ fields: { email: issued.email } });
    const tapLink = (scope?: string) =>
      call(`/v1/certs/${forged.certId}/opt-out/manage`, buildJsonPost({ token: forged.manageToken, ...(scope && { scope }) }));
    const before = await readDatabaseContents();
    const refused = await tapLink("business");
    expect(describeOutcome(refused)).toBe("400 invalid_request");
    expect(refused.body.error.message).toMatch(/^scope: /);
    expect(await readDatabaseContents()).toEqual(before);
    expect(describeOutcome(await tapLink("certificate"))).toBe("200 ok");
    expect(describeOutcome(await tapLink("business"))).toBe("400 invalid_request");
    expect(await isActive(issued.certId)).toBe(true);
    await withdrawCertificate(issued);
  });

  test("does not prevent the person from withdrawing everything by an emailed code or link", async () => {
    for (const way of ["code", "link"]) {
      const issued = await issueToNewPerson();
      const forged = await issueToNewPerson({ fields: { email: issued.email } });
      const { code, cookie } = await startWithdrawal(issued.certId, issued.email);
      const [token] = await listLinkTokens(issued.email);
      const response =
        way === "code"
          ? await submitWithdrawalCode(issued.certId, { email: issued.email, code, scope: "business" }, cookie)
          : await call(`/v1/certs/${issued.certId}/opt-out/manage`, buildJsonPost({ token, scope: "business" }));
      expect(describeOutcome(response), way).toBe("200 ok");
      expect([await isActive(issued.certId), await isActive(forged.certId)]).toEqual([false, false]);
    }
  });
});

describe("O4: mail bombing", () => {
  const createServiceAt = (hours: number) =>
    createServiceCall({ DEV_CLOCK_OFFSET_MS: String(Math.round(hours * 3_600_000)), LIMIT_OPT_OUT_REQUEST_PER_IP: "1000/60" });

  test("is limited to five emails an hour and ten a day per certificate and address, sent only to the address on it", async () => {
    const issued = await issueToNewPerson({ fields: { email: `Pat.${createEmailAddress()}` } });
    const written = issued.email;
    const countSentMail = async (): Promise<number> => (await listMailTo(written)).length;
    const requestCodeAt = async (hours: number, address: string): Promise<void> => {
      await requestWithdrawalCode(issued.certId, address, {}, createServiceAt(hours));
      await createServiceAt(hours)("/dev/mail"); // loading this page sends the emails that are due at that time
    };
    // At most three codes can be active at the same time. After 12 minutes (0.2 hours), the first codes have expired.
    for (const hours of [0, 0, 0, 0, 0.2, 0.2, 0.2, 0.4]) await requestCodeAt(hours, issued.email.toLowerCase());
    expect(await countSentMail()).toBe(5);
    for (const hours of [2, 2, 2, 2.2, 2.2, 2.2, 2.4, 4, 4, 4, 4.2]) await requestCodeAt(hours, issued.email);
    expect(await countSentMail()).toBe(10);
    expect((await listMailTo(written)).every(({ to: recipient }) => recipient === written)).toBe(true);
  });

  test("is limited to twenty emails a day per address beyond the first three of each business", async () => {
    const { certId, email } = await issueToNewPerson();
    const move = env.DB.prepare(
      "UPDATE email_codes SET topic = ? WHERE address_index = (SELECT email_indexes ->> 0 FROM certificates WHERE id = ?)",
    );
    const countMail = async (): Promise<number> => (await listMailTo(email)).length;
    // Reassigns the codes to another business until 23 are sent: that business's own 3, and the 20 that all businesses share. After that,
    // this certificate's business can still send 3 codes.
    for (let times = 0; times < 40; times += 1) {
      await requestWithdrawalCode(certId, email);
      if ((await countMail()) <= 23) await move.bind("biz_other live", certId).run();
    }
    expect(await countMail()).toBe(26);
  });

  test("leaves an audit entry for each email sent, and for nothing else", async () => {
    const issued = await issueToNewPerson();
    const countEntries = () =>
      env.DB.prepare("SELECT COUNT(*) AS n FROM audit_entries WHERE entity_id = ? AND type = 'optout.code_requested'")
        .bind(issued.certId)
        .first<number>("n");
    for (let times = 0; times < 6; times += 1) {
      await requestWithdrawalCode(issued.certId, issued.email);
      await requestWithdrawalCode(issued.certId, createEmailAddress());
    }
    expect(await listCodes(issued.email)).toHaveLength(3);
    expect(await countEntries()).toBe(3);
  });

  test("is limited to ten requests an hour per network address", async () => {
    const issued = await issueToNewPerson();
    const strict = createServiceCall({ DEV_RATE_SCALE: "1" });
    const responses: TestResponse[] = [];
    for (let count = 0; count < 11; count += 1)
      responses.push(await requestWithdrawalCode(issued.certId, createEmailAddress(), { "cf-connecting-ip": "203.0.113.9" }, strict));
    expect(responses.slice(0, 10).every(({ status }) => status === 200)).toBe(true);
    expect(describeOutcome(responses[10] as TestResponse)).toBe("429 rate_limited");
    expect(Number((responses[10] as TestResponse).headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

describe("O5: headers in an address", () => {
  test.each([
    "pat@example.com\r\nBcc: everyone@example.com",
    "pat@example.com\nBcc: x@example.com",
    "pat@example.com, eve@example.com",
    "pat@example.com;eve@example.com",
    "<pat@example.com>",
    '"pat eve"@example.com',
    "Pat <pat@example.com>",
    "pat@exa\u0000mple.com",
    "pat@localhost",
    "pat@example.com\u2028Bcc: x",
    `${"a".repeat(65)}@example.com`,
    "@example.com",
    "pat",
    "",
  ])("return 400 invalid_request: %j", async (email) => {
    const issued = await issueToNewPerson();
    const grown = await countAddedRows(async () =>
      expect(describeOutcome(await requestWithdrawalCode(issued.certId, email))).toBe("400 invalid_request"),
    );
    expect(grown).toMatchObject({ email_codes: 0, mail_outbox: 0 });
  });
});

describe("O6: a business's text in our email", () => {
  test("is in no subject and no link", async () => {
    const name = "Win at https://evil.example/now <a href='https://evil.example'>";
    const email = createEmailAddress();
    await env.DB.prepare("UPDATE businesses SET name = ? WHERE id = ?").bind(name, world.acme.id).run();
    try {
      const issued = await issueToNewPerson({ fields: { email } });
      await requestWithdrawalCode(issued.certId, email);
      const [mail] = await listMailTo(email);
      expect(mail?.subject).toBe("Your code to withdraw consent");
      expect([...new Set(mail?.html.match(/href="[^"]*"/g))]).toEqual([
        expect.stringMatching(`^href="http://svc.test/c/${issued.certId}#m=[\\w-]{43}"$`),
      ]);
      expect(mail?.text).not.toContain("evil.example");
    } finally {
      await env.DB.prepare("UPDATE businesses SET name = ? WHERE id = ?").bind(world.acme.name, world.acme.id).run();
    }
  });

  test("does not change the email's language, which is that of the browser", async () => {
    const issued = await issueToNewPerson();
    await requestWithdrawalCode(issued.certId, issued.email, { "accept-language": "fr-FR" });
    expect((await listMailTo(issued.email))[0]?.subject).toBe("Votre code pour retirer votre consentement");
  });
});

describe("O7: a code used elsewhere", () => {
  test("withdraws no certificate of another business or address, but every one of the business with the address", async () => {
    const email = createEmailAddress();
    const [issued, second, another] = [
      await issueToNewPerson({ fields: { email } }),
      await issueToNewPerson({ fields: { email } }),
      await issueToNewPerson(),
    ];
    const otherIssued = await issueForOtherBusiness(email);
    const { code, cookie } = await startWithdrawal(issued.certId, email);
    await requestWithdrawalCode(another.certId, another.email);
    expect(describeOutcome(await submitWithdrawalCode(otherIssued.certId, { email, code }, cookie))).toBe("400 opt_out_failed");
    expect(describeOutcome(await submitWithdrawalCode(another.certId, { email: another.email, code }, cookie))).toBe("400 opt_out_failed");
    expect(describeOutcome(await submitWithdrawalCode(another.certId, { email, code }, cookie))).toBe("400 opt_out_failed");
    expect(describeOutcome(await submitWithdrawalCode(issued.certId, { email: another.email, code }, cookie))).toBe("400 opt_out_failed");
    expect(describeOutcome(await submitWithdrawalCode(second.certId, { email, code }, cookie))).toBe("200 ok");
    expect(describeOutcome(await submitWithdrawalCode(issued.certId, { email, code }, cookie))).toBe("200 ok");
  });

  test("withdraws no live certificate if it was sent for a sandbox one", async () => {
    const email = createEmailAddress();
    const [issued, tried] = [
      await issueToNewPerson({ fields: { email } }),
      await issueToNewPerson({ fields: { email }, client_id: world.acme.clients.sandbox }),
    ];
    const { code, cookie } = await startWithdrawal(tried.certId, email);
    expect(describeOutcome(await submitWithdrawalCode(issued.certId, { email, code }, cookie))).toBe("400 opt_out_failed");
  });

  test("is refused after its hash was copied to another row", async () => {
    const email = createEmailAddress();
    const [issued, second] = [await issueToNewPerson({ fields: { email } }), await issueForOtherBusiness(email)];
    const { code } = await startWithdrawal(issued.certId, email);
    const other = await startWithdrawal(second.certId, email);
    await env.DB.prepare(
      "UPDATE email_codes SET code_hash = (SELECT k.code_hash FROM email_codes k WHERE k.topic = ?1 AND k.address_index = email_codes.address_index) WHERE topic = ?2",
    )
      .bind(`${world.acme.id} live`, `${world.other.id} live`)
      .run();
    expect(describeOutcome(await submitWithdrawalCode(second.certId, { email, code }, other.cookie))).toBe("400 opt_out_failed");
  });

  test("withdraws nothing if it is a guessed code for an address not on the certificate", async () => {
    const issued = await issueToNewPerson();
    const stranger = createEmailAddress();
    const response = await requestWithdrawalCode(issued.certId, stranger);
    const { id } = (await env.DB.prepare("SELECT id FROM email_codes ORDER BY rowid DESC LIMIT 1").first<{ id: string }>()) as {
      id: string;
    };
    const knownHash = toStoredIndex(await (await openVault(loadConfig(env))).codeHash(`withdrawal ${id}`, "123456"));
    await env.DB.prepare("UPDATE email_codes SET code_hash = ? WHERE id = ?").bind(knownHash, id).run();
    expect(describeOutcome(await submitWithdrawalCode(issued.certId, { email: stranger, code: "123456" }, getCookies(response)))).toBe(
      "400 opt_out_failed",
    );
    expect(await isActive(issued.certId)).toBe(true);
  });
});

/** Removes the members, so that the contact address is the only recipient, as in an account that the operator created. */
const withoutMembers = async (): Promise<void> => {
  await env.DB.batch([
    env.DB.prepare("DROP TRIGGER IF EXISTS members_owner_removed"),
    env.DB.prepare("DELETE FROM members WHERE business_id = ?").bind(world.acme.id),
  ]);
};

describe("O8: many correct codes at the same time", () => {
  test("leave one withdrawal, one audit entry, one statement, one event and one email to the owner", { timeout: 180_000 }, async () => {
    const issued = await issueToNewPerson();
    const owner = createEmailAddress();
    await env.DB.prepare("UPDATE businesses SET contact_email = ? WHERE id = ?").bind(owner, world.acme.id).run();
    await withoutMembers();
    await forgetOwnerNotices();
    const { code, cookie } = await startWithdrawal(issued.certId, issued.email);
    const countEvents = (): Promise<number | null> =>
      env.DB.prepare("SELECT COUNT(*) AS n FROM changes WHERE entity_id = ? AND sequence IS NOT NULL")
        .bind(issued.certId)
        .first<number>("n");
    const before = (await countEvents()) ?? 0;
    const responses = await Promise.all(
      Array.from({ length: atOnce }, () => submitWithdrawalCode(issued.certId, { email: issued.email, code }, cookie)),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.every((response) => ["200 ok", "400 opt_out_failed", "409 already_revoked"].includes(describeOutcome(response)))).toBe(
      true,
    );
    expect(await countTraces(issued.certId)).toEqual({ withdrawals: 1, audit: 1, anchors: 1 });
    expect(((await countEvents()) ?? 0) - before).toBe(1);
    expect(await listMailTo(owner)).toHaveLength(1);
  });

  test("leave one withdrawal, whether by code, by link or by the business's record", async () => {
    const issued = await issueToNewPerson();
    const { code, cookie } = await startWithdrawal(issued.certId, issued.email);
    const keyHeaders = { authorization: `Bearer ${world.acme.keys.live}` };
    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        at % 3 === 0
          ? submitWithdrawalCode(issued.certId, { email: issued.email, code }, cookie)
          : at % 3 === 1
            ? call(`/v1/certs/${issued.certId}/opt-out/manage`, buildJsonPost({ token: issued.manageToken }))
            : call(
                `/v1/certs/${issued.certId}/withdrawals`,
                buildJsonPost({ method: "phone", received_at: new Date().toISOString() }, keyHeaders),
              ),
      ),
    );
    expect(responses.filter(({ status }) => status < 300)).toHaveLength(1);
    expect(await countTraces(issued.certId)).toEqual({ withdrawals: 1, audit: 1, anchors: 1 });
  });
});

describe("O9: the state of the business's account", () => {
  test.each(["past_due", "suspended", "closed", "pending"])("does not prevent a withdrawal while it is %s", async (status) => {
    const [issued, linked] = [await issueToNewPerson(), await issueToNewPerson()];
    await env.DB.prepare("UPDATE businesses SET status = ? WHERE id = ?").bind(status, world.acme.id).run();
    try {
      await withdrawCertificate(issued);
      const tapped = await call(`/v1/certs/${linked.certId}/opt-out/manage`, buildJsonPost({ token: linked.manageToken }));
      expect(tapped.status).toBe(200);
      expect(await isActive(issued.certId)).toBe(false);
    } finally {
      await env.DB.prepare("UPDATE businesses SET status = 'active' WHERE id = ?").bind(world.acme.id).run();
    }
  });
});

describe("O10: the owner's email", () => {
  test("contains the certificate's id and the deadline, and nothing of the person", async () => {
    const owner = createEmailAddress();
    await env.DB.prepare("UPDATE businesses SET contact_email = ? WHERE id = ?").bind(owner, world.acme.id).run();
    await withoutMembers();
    await forgetOwnerNotices();
    const issued = await issueToNewPerson({
      fields: { email: createEmailAddress(), full_name: "Zebulon Quickwater", phone: "+1 202 555 0177" },
    });
    const { cease_by } = (await withdrawCertificate(issued)).body.data;
    const [mail] = await listMailTo(owner);
    expect(mail?.text).toContain(issued.certId);
    expect(mail?.text).toContain(`by the end of ${formatDate("en", Date.parse(cease_by))} (UTC)`);
    const fullText = JSON.stringify(mail).toLowerCase();
    for (const personal of [
      issued.email,
      issued.email.split("@")[0] as string,
      "zebulon",
      "quickwater",
      "555 0177",
      "2025550177",
      "solar quote",
    ])
      expect(fullText).not.toContain(personal.toLowerCase());
  });
});

describe("O11: the deadline", () => {
  test("is the end of the tenth business day, for random times in ten years", () => {
    const first = Date.UTC(2024, 0, 1);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3_653 * 86_400_000 - 1 }), (offset) => {
        const from = first + offset;
        const until = getCeaseDeadline(from);
        const midnight = Math.floor(from / 86_400_000) * 86_400_000;
        let businessDays = 0;
        for (let day = midnight + 86_400_000; day <= until; day += 86_400_000)
          if (![0, 6].includes(new Date(day).getUTCDay())) businessDays += 1;
        return businessDays === 10 && (until + 1) % 86_400_000 === 0 && ![0, 6].includes(new Date(until).getUTCDay());
      }),
    );
  });
});

describe("O12: codes and links sent from other sites", () => {
  const from = (origin: string) => ({ origin });

  test.each(["https://evil.example", "null", "https://svc.test.evil.example"])(
    "are refused from %s, and no attempt is spent",
    async (origin) => {
      const issued = await issueToNewPerson();
      const { code } = await startWithdrawal(issued.certId, issued.email);
      const response = await submitWithdrawalCode(issued.certId, { email: issued.email, code }, from(origin));
      expect(describeOutcome(response)).toBe("403 forbidden");
      expect(response.headers.get("access-control-allow-origin")).toBe(origin);
      expect(response.headers.has("access-control-allow-credentials")).toBe(false);
      const spent = await env.DB.prepare(
        "SELECT SUM(same_context_attempts + other_context_attempts) AS n FROM email_codes WHERE address_index = (SELECT email_indexes ->> 0 FROM certificates WHERE id = ?)",
      )
        .bind(issued.certId)
        .first("n");
      expect(spent).toBe(0);
      const tapped = await call(`/v1/certs/${issued.certId}/opt-out/manage`, buildJsonPost({ token: issued.manageToken }, from(origin)));
      expect(describeOutcome(tapped)).toBe("403 forbidden");
      expect(await isActive(issued.certId)).toBe(true);
    },
  );

  test.each(["http://svc.test", "https://www.example.com"])(
    "do not include those from %s, which are ours or the business's own",
    async (origin) => {
      const issued = await issueToNewPerson();
      const { code } = await startWithdrawal(issued.certId, issued.email);
      expect(describeOutcome(await submitWithdrawalCode(issued.certId, { email: issued.email, code }, from(origin)))).toBe("200 ok");
    },
  );

  test("do not include requests for a code, which any page can send without credentials", async () => {
    const issued = await issueToNewPerson();
    const response = await requestWithdrawalCode(issued.certId, issued.email, from("https://anything.example"));
    expect(response.headers.get("access-control-allow-origin")).toBe("https://anything.example");
    expect(response.headers.has("access-control-allow-credentials")).toBe(false);
    expect(response.headers.get("vary")).toContain("Origin");
    const preflight = await call(`/v1/certs/${issued.certId}/opt-out/confirm`, {
      method: "OPTIONS",
      headers: from("https://anything.example"),
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-max-age")).toBe("7200");
    expect(preflight.headers.get("access-control-allow-origin")).toBe("https://anything.example");
  });
});

describe("a business without the certificate", () => {
  test("gets the same response as for an unknown certificate", async () => {
    const { cert_id } = await issueCertificate();
    const buildBearer = (business: DemoBusiness) => ({ authorization: `Bearer ${business.keys.live}` });
    const recorded = { method: "phone", received_at: new Date().toISOString() };
    const otherBusiness = await call(`/v1/certs/${cert_id}/withdrawals`, buildJsonPost(recorded, buildBearer(world.other)));
    const unknownCertificate = await call(
      "/v1/certs/cc_00zzzzzzzzzzzzzzzzzzzzzzzz/withdrawals",
      buildJsonPost(recorded, buildBearer(world.other)),
    );
    expect(withoutRequestId(otherBusiness)).toBe(withoutRequestId(unknownCertificate));
  });
});
