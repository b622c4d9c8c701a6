// Tests certificates that a business issues in another shard because its own shard is closed or full. The account is in shard 00.
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { relayMail } from "../../workers/background/mail-relay.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import { listBusinessIdsAfter } from "../../storage/accounts.ts";
import { openDatabase } from "../../storage/database.ts";
import { closeFirstShard, finishWithdrawals, getToken, issueThrough, listIds, openFirstShard, submitThrough } from "../support/overflow.ts";
import { runOutboxRelay, waitUntilSettled } from "../support/background-work.ts";
import { findNewestCode } from "../support/email-code.ts";
import { buildJsonRequest, createDifferentCode, listMailTo, signIn } from "../support/people.ts";
import { buildJsonPost, createEmailAddress, getCookies, requestWithdrawalCode, submitWithdrawalCode } from "../support/withdrawal.ts";
import { createServiceCall, world, type Call } from "../support/world.ts";

const hourMs = 3_600_000;
const platform = await getPlatform(env);
const key = { authorization: `Bearer ${world.acme.keys.live}` };
const extractShard = (certId: string): string => certId.slice(3, 5);

/** An isolate that cached the account before shard 00 was closed. */
let earlierIsolate: Call;
let service: Call;
/** Another isolate that cached the account before shard 00 was closed. */
let lateIsolate: Call;
/** A certificate of another person in shard 00. */
let waiting: { readonly cert_id: string };
/** The same person's later certificate in shard 01. */
let waitingElsewhere: { readonly cert_id: string };
/** A certificate of another business in shard 00. */
let otherCertificate: { readonly cert_id: string };
/** The email address of a person with a certificate in shard 00 and a later one in shard 01. */
const email = createEmailAddress();
let ownCertificate: { readonly cert_id: string; readonly manage_url: string };
let other: { readonly cert_id: string; readonly manage_url: string };
/** The email address of a person with one certificate in shard 00 and four later ones in shard 01. */
const codeEmail = createEmailAddress();
let codeCertificate: { readonly cert_id: string };
/** The email addresses of two more people with a certificate in shard 00 and a later one in shard 01. */
const [guessedEmail, pageEmail] = [createEmailAddress(), createEmailAddress()];
let guessedCertificate: { readonly cert_id: string; readonly manage_url: string };
let pageCertificate: { readonly cert_id: string };
beforeAll(async () => {
  earlierIsolate = createServiceCall();
  ownCertificate = await issueThrough(earlierIsolate, { fields: { email }, purpose: "overflow quote" });
  lateIsolate = createServiceCall();
  codeCertificate = await issueThrough(lateIsolate, { fields: { email: codeEmail } });
  guessedCertificate = await issueThrough(lateIsolate, { fields: { email: guessedEmail } });
  pageCertificate = await issueThrough(lateIsolate, { fields: { email: pageEmail } });
  const otherPerson = { fields: { email: createEmailAddress() } };
  waiting = await issueThrough(lateIsolate, otherPerson);
  otherCertificate = await issueThrough(lateIsolate, { fields: { email: createEmailAddress() } }, world.other);
  await closeFirstShard();
  service = createServiceCall();
  waitingElsewhere = await issueThrough(service, otherPerson);
  other = await issueThrough(service, { fields: { email }, purpose: "overflow quote" });
});

const setFault = async (mode: string, for_ms: number): Promise<void> => {
  expect((await service("/dev/faults", buildJsonRequest({ database: "01", mode, for_ms }))).status).toBe(200);
};

/** Returns the number of wrong codes that shard 00 has counted for the email address of a certificate, or null if it has no count. */
const countFailures = (certId: string): Promise<unknown> =>
  env.DB.prepare(
    "SELECT failures FROM email_code_failures WHERE address_index = (SELECT email_indexes ->> 0 FROM certificates WHERE id = ?)",
  )
    .bind(certId)
    .first("failures");

const read = async (path: string): Promise<{ readonly [key: string]: never }> => {
  const { status, body, text } = await service(path, { headers: key });
  if (status !== 200) throw new Error(text);
  return body.data;
};

describe("a business whose shard is closed", () => {
  test("continues to issue certificates in another shard", async () => {
    expect([extractShard(ownCertificate.cert_id), extractShard(other.cert_id)]).toEqual(["00", "01"]);
    expect(await env.DB_01.prepare("SELECT COUNT(*) AS n FROM certificates WHERE id = ?").bind(other.cert_id).first("n")).toBe(1);
    expect((await service(`/v1/certs/${other.cert_id}/verify`)).body.data).toMatchObject({ cert_id: other.cert_id, status: "active" });
    expect(await read(`/v1/certs/${other.cert_id}`)).toMatchObject({ cert_id: other.cert_id });
    expect((await service(`/c/${other.cert_id}`)).text).toContain("Acme Solar LLC");
    expect((await service(`/v1/certs/${other.cert_id}/evidence-pack`, { headers: key })).status).toBe(200);
  });

  test("issues one certificate for a repeated submission, even if one isolate has cached the account and the shard responds late", async () => {
    const submission_id = crypto.randomUUID();
    const first = await issueThrough(service, { submission_id });
    await setFault("slow", hourMs);
    try {
      expect((await issueThrough(lateIsolate, { submission_id })).cert_id).toBe(first.cert_id);
    } finally {
      await setFault("slow", 0);
    }
  });

  test("issues in its own shard while the other one does not respond", async () => {
    await setFault("hang", hourMs);
    try {
      const isolate = createServiceCall();
      for (const _ of [1, 2]) expect(extractShard((await issueThrough(isolate, {}, world.other)).cert_id)).toBe("00");
    } finally {
      await setFault("hang", 0);
    }
  });

  test("shows the portal while the other shard does not respond", async () => {
    const { cookie } = await signIn(world.ownerEmail);
    await setFault("reset", hourMs);
    try {
      expect((await service("/portal/team", { headers: { cookie } })).status).toBe(200);
    } finally {
      await setFault("reset", 0);
    }
  });

  test("withdraws in the shards that respond, and does not hold up other people's withdrawals", async () => {
    const addWork = (certId: string, dueAt: number, forAllShards: number) =>
      env.DB.prepare(
        `INSERT INTO withdrawal_work (cert_id, business_id, environment, address_indexes, withdrawn_at, method, next_at, for_all_shards)
         SELECT id, business_id, environment, email_indexes, ?, 'email_code', ?, ? FROM certificates WHERE id = ?`,
      ).bind(Date.now(), dueAt, forAllShards, certId);
    const listStatuses = () =>
      Promise.all(
        [waiting, otherCertificate, waitingElsewhere].map(
          async ({ cert_id }) => (await service(`/v1/certs/${cert_id}/verify`)).body.data?.status,
        ),
      );
    await env.DB.batch([addWork(waiting.cert_id, 1, 1), addWork(otherCertificate.cert_id, 2, 0)]);
    await setFault("reset", hourMs);
    try {
      await runOutboxRelay();
      expect(await listStatuses()).toEqual(["revoked", "revoked", undefined]);
    } finally {
      await setFault("reset", 0);
    }
    await env.DB.exec("UPDATE withdrawal_work SET next_at = 1"); // as if the lease had expired
    await finishWithdrawals();
    expect(await listStatuses()).toEqual(["revoked", "revoked", "revoked"]);
  });

  test("has one account, even though the other shard has a copy of it", async () => {
    const [first, second] = await Promise.all([env.DB, env.DB_01].map((db) => listBusinessIdsAfter(openDatabase(db), "", 1_000)));
    expect(first).toContain(world.acme.id);
    expect(second).not.toContain(world.acme.id);
  });

  test("issues nothing more in its own shard, not even through an isolate that has cached the account", async () => {
    expect(extractShard((await issueThrough(earlierIsolate)).cert_id)).toBe("01");
    await openFirstShard();
    expect(extractShard((await issueThrough(createServiceCall())).cert_id)).toBe("01");
    await closeFirstShard();
  });

  test("lists the certificates of all shards, newest first, with one total", async () => {
    const first = await read("/v1/certs?per_page=3");
    const second = await read("/v1/certs?per_page=3&page=2");
    const all = await read("/v1/certs?per_page=100");
    expect([...listIds(first), ...listIds(second)]).toEqual(listIds(all).slice(0, 6));
    expect(listIds(all)).toEqual(expect.arrayContaining([ownCertificate.cert_id, other.cert_id]));
    expect(listIds(all).indexOf(other.cert_id)).toBeLessThan(listIds(all).indexOf(ownCertificate.cert_id));
    expect(all.total).toBe(listIds(all).length);
  });

  test.each([`subject_email=${encodeURIComponent(email)}`, "q=overflow", "q=overflow&status=active"])(
    "finds %s in all shards",
    async (search) => {
      const found = await read(`/v1/certs?${search}`);
      expect([listIds(found), found.total]).toEqual([[other.cert_id, ownCertificate.cert_id], 2]);
    },
  );

  test("issues one certificate for a submission that was first sent before the business continued in another shard", async () => {
    await openFirstShard();
    const submission = { submission_id: crypto.randomUUID() };
    const first = await submitThrough(createServiceCall(), submission, world.other);
    await closeFirstShard();
    const isolate = createServiceCall();
    expect(extractShard((await issueThrough(isolate, {}, world.other)).cert_id)).toBe("01");
    for (const repeated of [
      await submitThrough(isolate, submission, world.other),
      await submitThrough(createServiceCall(), submission, world.other),
    ]) {
      expect(repeated.body.data).toEqual(first.body.data);
      expect(repeated.headers.get("idempotency-replayed")).toBe("true");
    }
    const conflicting = await submitThrough(isolate, { ...submission, purpose: "another purpose" }, world.other);
    expect(conflicting.body.error.code).toBe("idempotency_conflict");
  });

  test("gets certificates from the other shard's journal while its database does not respond", async () => {
    const setFault = (forMs: number) => service("/dev/faults", buildJsonPost({ database: "01", mode: "hang", for_ms: forMs }));
    await setFault(3_600_000);
    let certId: string;
    try {
      certId = (await issueThrough(service)).cert_id;
      expect(extractShard(certId)).toBe("01");
      expect((await service(`/v1/certs/${certId}/verify`)).body.data.cert_id).toBe(certId);
    } finally {
      await setFault(0);
    }
    const countStored = () => env.DB_01.prepare("SELECT COUNT(*) AS n FROM certificates WHERE id = ?").bind(certId).first("n");
    await expect.poll(countStored, { timeout: 20_000 }).toBe(1);
  });

  test("gets the events of all shards", async () => {
    const revoked = await issueThrough(service);
    await service(`/v1/certs/${revoked.cert_id}/opt-out/manage`, buildJsonPost({ token: getToken(revoked) }));
    const listEvents = async () => JSON.stringify(await read("/v1/events?types=certificate.revoked&limit=500"));
    await expect.poll(listEvents, { timeout: 20_000 }).toContain(revoked.cert_id);
  });
});

describe("a person whose certificates are in two shards", () => {
  test("is found by the contact check until both are withdrawn", async () => {
    const person = createEmailAddress();
    const check = async (): Promise<{ allowed: boolean; basis: { id: string }[] }> =>
      (await service("/v1/contact-check", buildJsonPost({ subjects: [{ email: person }] }, key))).body.data.results[0];
    const { cert_id: certId, manage_url: manageUrl } = await issueThrough(service, { fields: { email: person } });
    // After an earlier test's outage, the certificate can still be in the journal. The contact check finds it once it is in the database.
    await expect.poll(async () => (await check()).basis.map(({ id }) => id), { timeout: 20_000 }).toEqual([certId]);
    await service(`/v1/certs/${certId}/opt-out/manage`, buildJsonPost({ token: getToken({ manage_url: manageUrl }) }));
    expect(JSON.stringify(await check())).toContain("revoked");
  });

  const requestCode = async (certId: string, person: string) => {
    const requested = await requestWithdrawalCode(certId, person, {}, service);
    await waitUntilSettled();
    await relayMail(platform);
    const mails = await listMailTo(person);
    const token = /#m=([A-Za-z0-9_-]{43})/.exec(mails[0]?.text ?? "")?.[1] as string;
    return { code: findNewestCode(mails) as string, token, cookie: getCookies(requested) };
  };

  test("withdraws each of them with a code or link that was emailed for one of them", async () => {
    const later: { readonly cert_id: string }[] = [];
    for (let count = 0; count < 4; count += 1) later.push(await issueThrough(service, { fields: { email: codeEmail } }));
    const [byCode, byLink, byBusinessLink, last] = later.map(({ cert_id: certId }) => certId) as [string, string, string, string];
    expect([codeCertificate, ...later].map(({ cert_id: certId }) => extractShard(certId))).toEqual(["00", "01", "01", "01", "01"]);
    const { code, token, cookie } = await requestCode(codeCertificate.cert_id, codeEmail);
    const submitCode = (certId: string, typed: string) => submitWithdrawalCode(certId, { email: codeEmail, code: typed }, cookie, service);
    const openLink = (certId: string, linkToken: string, change: object = {}) =>
      service(`/v1/certs/${certId}/opt-out/manage`, buildJsonPost({ token: linkToken, ...change }));

    expect((await submitCode(byCode, createDifferentCode(code))).body.error.code).toBe("opt_out_failed");
    expect(await countFailures(codeCertificate.cert_id)).toBe(1);
    expect((await submitCode(byCode, code)).body.data.revoked).toBe(true);
    expect(await countFailures(codeCertificate.cert_id)).toBe(null);
    expect((await openLink(byLink, "A".repeat(43))).body.error.code).toBe("opt_out_failed");
    expect((await openLink(byLink, token)).body.data.revoked).toBe(true);
    await setFault("reset", hourMs);
    try {
      expect((await submitCode(codeCertificate.cert_id, code)).body.data.revoked).toBe(true);
    } finally {
      await setFault("reset", 0);
    }
    expect((await openLink(byBusinessLink, token, { scope: "business" })).body.data.revoked).toBe(true);
    await finishWithdrawals();
    expect((await service(`/v1/certs/${last}/verify`)).body.data.status).toBe("revoked");
  });

  test("has five attempts at a code, even if the wrong codes are entered for a certificate in another shard", async () => {
    const { cert_id: later } = await issueThrough(service, { fields: { email: guessedEmail } });
    const { code, cookie } = await requestCode(guessedCertificate.cert_id, guessedEmail);
    const submitCode = (certId: string, typed: string) =>
      submitWithdrawalCode(certId, { email: guessedEmail, code: typed }, cookie, service);
    for (let attempt = 0; attempt < 5; attempt += 1) await submitCode(later, createDifferentCode(code));
    for (const certId of [later, guessedCertificate.cert_id])
      expect((await submitCode(certId, code)).body.error.code).toBe("opt_out_failed");
    expect(await countFailures(guessedCertificate.cert_id)).toBe(5);
  });

  test("withdraws with manage_url while another shard does not respond", async () => {
    await setFault("reset", hourMs);
    try {
      const body = buildJsonPost({ token: getToken(guessedCertificate) });
      expect((await service(`/v1/certs/${guessedCertificate.cert_id}/opt-out/manage`, body)).body.data.revoked).toBe(true);
    } finally {
      await setFault("reset", 0);
    }
  });

  test("adds no rows to other shards for addresses without a code there", async () => {
    const { cert_id: certId } = await issueThrough(service);
    const countRows = async (db: D1Database) => Number(await db.prepare("SELECT COUNT(*) AS n FROM email_code_failures").first("n"));
    const guess = () => submitWithdrawalCode(certId, { email: createEmailAddress(), code: "000000" }, {}, service);
    await guess();
    const [own, other] = [await countRows(env.DB_01), await countRows(env.DB)];
    for (let count = 0; count < 3; count += 1) await guess();
    expect([await countRows(env.DB_01), await countRows(env.DB)]).toEqual([own + 3, other]);
  });

  test("uses up a code from another shard on the page that asks what to withdraw", async () => {
    const { cert_id: later } = await issueThrough(service, { fields: { email: pageEmail } });
    const { code } = await requestCode(pageCertificate.cert_id, pageEmail);
    const post = (path: string, form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) =>
      service(path, { method: "POST", body: new URLSearchParams(form), headers, redirect: "manual" });
    const cookie = (await post(`/c/${later}/withdraw`, { email: pageEmail })).headers
      .getSetCookie()
      .map((header) => header.split(";")[0])
      .join("; ");
    const confirm = async () => (await post(`/c/${later}/withdraw/confirm`, { code }, { cookie })).headers.get("location");
    expect([await confirm(), await confirm()]).toEqual([`/c/${later}/withdraw`, `/c/${later}/withdraw?outcome=failed`]);
    const repeated = await submitWithdrawalCode(pageCertificate.cert_id, { email: pageEmail, code }, {}, service);
    expect(repeated.body.error.code).toBe("opt_out_failed");
    expect((await service(`/v1/certs/${later}/verify`)).body.data.status).toBe("active");
  });

  test("has all of them withdrawn by one request of the business", async () => {
    const recorded = await service(
      `/v1/certs/${other.cert_id}/withdrawals`,
      buildJsonPost({ method: "phone", received_at: new Date().toISOString(), scope: "business" }, key),
    );
    expect(recorded.status).toBe(201);
    await finishWithdrawals();
    for (const { cert_id: certId } of [ownCertificate, other])
      expect((await service(`/v1/certs/${certId}/verify`)).body.data.status).toBe("revoked");
    const deadlines = await env.DB.prepare("SELECT COUNT(*) AS n FROM withdrawal_work").first("n");
    expect([deadlines, await env.DB_01.prepare("SELECT COUNT(*) AS n FROM withdrawal_work").first("n")]).toEqual([0, 0]);
  });

  test("is reported to the owners, whose addresses are in the account's shard", async () => {
    await waitUntilSettled();
    await relayMail(platform);
    expect(JSON.stringify(await listMailTo(world.ownerEmail))).toContain("cc_01");
  });
});

describe("the portal", () => {
  test("shows the certificates, deadlines and figures of all shards", async () => {
    const { cookie } = await signIn(world.ownerEmail);
    const open = async (path: string): Promise<string> => (await service(path, { headers: { cookie } })).text;
    const list = await open("/portal/certificates");
    expect(list).toContain(other.cert_id);
    expect(await open("/portal/deadlines")).toContain(other.cert_id);
    expect(await open("/portal/audit?type=certificate.issued")).toContain(other.cert_id);
  });
});
