// Tests people whose certificates with one business are in two shards. The account of the business is in shard 00.
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { waitUntilSettled } from "../support/background-work.ts";
import { closeFirstShard, finishWithdrawals, issueThrough } from "../support/overflow.ts";
import { callPortal } from "../support/portal.ts";
import { signIn } from "../support/people.ts";
import { contactValues, createPersonEmail, grantShare, signInPerson, type SignedPerson } from "../support/sharing.ts";
import { getCookies, listCodes, listMailTo, requestWithdrawalCode, submitWithdrawalCode } from "../support/withdrawal.ts";
import { buildConsentRequest, buildSubmission, createServiceCall, getWithKey, world, type Call } from "../support/world.ts";

interface People {
  readonly byAccount: SignedPerson;
  readonly byCode: SignedPerson;
}

let service: Call;
let people: People;
/** For each person, the certificate in shard 00 and the one in shard 01. */
const certificates = new Map<SignedPerson, [string, string]>();
beforeAll(async () => {
  const ownService = createServiceCall();
  const email = createPersonEmail();
  people = { byAccount: await signInPerson({}), byCode: await signInPerson({ ...contactValues, email }, undefined, email) };
  const issueTo = async (through: Call, { email }: SignedPerson): Promise<string> =>
    (await issueThrough(through, { fields: { email, first_name: "Pat" } })).cert_id;
  const first = [await issueTo(ownService, people.byAccount), await issueTo(ownService, people.byCode)] as const;
  await closeFirstShard();
  service = createServiceCall();
  certificates.set(people.byAccount, [first[0], await issueTo(service, people.byAccount)]);
  certificates.set(people.byCode, [first[1], await issueTo(service, people.byCode)]);
});

const getCertificates = (person: SignedPerson): [string, string] => certificates.get(person) as [string, string];
const listStatuses = (person: SignedPerson): Promise<string[]> =>
  Promise.all(getCertificates(person).map(async (id) => (await getWithKey(`/v1/certs/${id}/verify`)).body.data.status));

describe("a signed-in person", () => {
  test("sees the business once, with the certificates of both shards in pages", async () => {
    const { byAccount } = people;
    const list = async (path: string) => (await byAccount.get(`/v1/me/certificates${path}`)).body.data;
    const { businesses } = await list("");
    expect(businesses).toMatchObject([{ business_id: world.acme.id, certificates: 2, active: 2 }]);
    const listIds = (page: { certificates: { cert_id: string }[] }) => page.certificates.map(({ cert_id }) => cert_id);
    const [inOwn, inOther] = getCertificates(byAccount);
    expect([inOwn.slice(3, 5), inOther.slice(3, 5)]).toEqual(["00", "01"]);
    expect(listIds(await list(`/${world.acme.id}`))).toEqual([inOther, inOwn]);
    expect(listIds(await list(`/${world.acme.id}?starting_after=${inOther}`))).toEqual([inOwn]);
    expect(listIds(await list(`/${world.acme.id}?starting_after=${inOwn}`))).toEqual([]);
  });

  test("withdraws all of them with one request", async () => {
    const { byAccount } = people;
    const response = await byAccount.post("/v1/me/certificates/withdraw", { scope: "business", business_id: world.acme.id });
    expect([response.status, response.body.data.withdrawn]).toEqual([200, 2]);
    expect(await listStatuses(byAccount)).toEqual(["revoked", "revoked"]);
    await waitUntilSettled();
    const confirmations = (await listMailTo(byAccount.email)).filter(({ subject }) => subject === "Your consent has been withdrawn");
    expect(confirmations).toHaveLength(1);
  });
});

describe("a person with a code", () => {
  test("withdraws the certificates of both shards, and ends the shares in the account's shard", async () => {
    const { byCode } = people;
    const { share } = await grantShare(byCode);
    const [, inOther] = getCertificates(byCode);
    const requested = await requestWithdrawalCode(inOther, byCode.email);
    await waitUntilSettled();
    const [code] = await listCodes(byCode.email);
    const withdrawn = await submitWithdrawalCode(inOther, { email: byCode.email, code, scope: "business" }, getCookies(requested));
    expect(withdrawn.status).toBe(200);
    await finishWithdrawals();
    expect(await listStatuses(byCode)).toEqual(["revoked", "revoked"]);
    expect((await byCode.get("/v1/me/shares")).body.data.shares.find((each: { id: string }) => each.id === share.id).status).toBe(
      "revoked",
    );
    for (const db of [env.DB, env.DB_01])
      expect(
        await db.prepare("SELECT (SELECT COUNT(*) FROM withdrawal_work) + (SELECT COUNT(*) FROM account_withdrawals) AS n").first("n"),
      ).toBe(0);
  });
});

describe("a client that is created after the business continued in another shard", () => {
  test("issues certificates there", async () => {
    const owner = await signIn(world.ownerEmail);
    const created = await callPortal(owner, "POST", "/clients", { name: "New form", environment: "live" });
    expect(created.status).toBe(201);
    const body = { ...buildSubmission(), client_id: created.body.data.client_id };
    const issued = await service("/v1/consent", buildConsentRequest(body));
    expect([issued.status, issued.body.data.cert_id.slice(3, 5)]).toEqual([201, "01"]);
  });
});
