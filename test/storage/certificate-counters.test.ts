// Tests that the certificate counters are updated for many certificates at once and match the counted certificates.
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { hourMs } from "../../core/time.ts";
import { countNewCertificates } from "../../storage/certificate-counters.ts";
import { openDatabase } from "../../storage/database.ts";
import { expectCountersRight } from "../support/certificate-counters.ts";
import { insertWithdrawal } from "../support/withdrawal.ts";
import { issueCertificate, world } from "../support/world.ts";

const db = openDatabase(env.DB);
const count = (now = Date.now() + 2 * hourMs): Promise<boolean> => countNewCertificates(db, now);
const readCounted = async (): Promise<number> => (await env.DB.prepare("SELECT ord FROM counted_certificates").first<number>("ord")) ?? 0;
const readNewest = async (): Promise<number> =>
  (await env.DB.prepare("SELECT max(ord) AS ord FROM certificates").first<number>("ord")) as number;
const issueTest = (): Promise<{ readonly cert_id: string }> => issueCertificate({ client_id: world.acme.clients.sandbox });
const deleteTest = (certId: string): Promise<unknown> =>
  env.DB.batch([
    env.DB.prepare("DELETE FROM certificate_addresses WHERE cert_ord = (SELECT ord FROM certificates WHERE id = ?)").bind(certId),
    env.DB.prepare("DELETE FROM idempotent_responses WHERE cert_id = ?").bind(certId),
    env.DB.prepare("DELETE FROM certificates WHERE id = ?").bind(certId),
  ]);

test("a few new certificates are not counted until the oldest is an hour old", async () => {
  await count();
  await issueCertificate();
  const newest = await readNewest();
  await count(Date.now());
  expect(await readCounted()).toBe(newest - 1);
  await count();
  expect(await readCounted()).toBe(newest);
  await expectCountersRight();
});

test("a withdrawal is counted once, before or after its certificate is", async () => {
  const [first, second] = [await issueCertificate(), await issueCertificate()];
  await insertWithdrawal(env.DB, first.cert_id).run();
  await expectCountersRight();
  await count();
  await expectCountersRight();
  await insertWithdrawal(env.DB, second.cert_id).run();
  await expectCountersRight();
});

test("concurrent runs count every certificate once", async () => {
  for (let issued = 0; issued < 3; issued += 1) await issueCertificate();
  await Promise.all([count(), count(), count()]);
  await expectCountersRight();
});

test("a certificate that gets the number of a deleted one is counted", async () => {
  const [first, second] = [await issueTest(), await issueTest()];
  await count();
  const freed = await readNewest();
  await deleteTest(second.cert_id);
  await deleteTest(first.cert_id);
  await expectCountersRight();
  await issueTest();
  expect(await readNewest()).toBeLessThan(freed);
  await expectCountersRight();
  await count();
  await expectCountersRight();
});
