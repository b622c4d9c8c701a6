// Makes calls that produce every success and every refusal of a person's account routes: deletion, export, certificates that name the
// person, and removals. For shares, see sharing-scenarios.ts.
import { env } from "cloudflare:workers";
import { minuteMs } from "../../core/time.ts";
import { parseRemovalId } from "../../core/ids.ts";
import { recordRemovalProgress } from "../../workers/operations/consumers/record-removal-progress.ts";
import { createServicesWith } from "./changed-services.ts";
import { platform, sendTwice, type Scenarios } from "./scenarios.ts";
import { callAsPat, getPat, listPersonRefusals, listUnsafeRefusals } from "./sharing-scenarios.ts";
import { grantShare, signInPerson, type SignedPerson } from "./sharing.ts";
import { issueToNewPerson } from "./withdrawal.ts";
import { call, world, type TestResponse } from "./world.ts";

const sendDeletion = ({ headers }: SignedPerson, body: string, type = "application/json"): Promise<TestResponse> =>
  call("/v1/me", { method: "DELETE", headers: { ...headers, "content-type": type }, body });
/** The person must have signed in recently; older sessions are refused. */
const deleteAccount = (person: SignedPerson, body: object = {}): Promise<TestResponse> => sendDeletion(person, JSON.stringify(body));

const createCertificateId = async (): Promise<string> => (await issueToNewPerson({ fields: { email: (await getPat()).email } })).certId;
const certificatesPath = `/v1/me/certificates/${world.acme.id}`;
const withdrawPath = "/v1/me/certificates/withdraw";
const withdraw = (body: object, headers: Record<string, string> = {}) => callAsPat("POST", withdrawPath, { body, headers });

const removalsPath = "/v1/me/removals";
const removalRequest = { authorize: true, targets: ["spokeo"] };
const createSubscriber = async (): Promise<SignedPerson> => {
  const person = await signInPerson({});
  await env.DB.prepare("UPDATE consumers SET plan = 'white_glove' WHERE id = ?")
    .bind((await person.get("/v1/me")).body.data.id)
    .run();
  return person;
};
const createRemoval = async (person: SignedPerson): Promise<string> =>
  (await person.post(removalsPath, { ...removalRequest, notes: "Also Patricia" })).body.data.id;
const createCompletedRemoval = async (person: SignedPerson): Promise<string> => {
  const id = await createRemoval(person);
  await recordRemovalProgress(createServicesWith(platform, {}), parseRemovalId(id), new Map([["spokeo", "completed"]]));
  return id;
};
const getAffidavit = (id: string, { headers }: Pick<SignedPerson, "headers">) => call(`${removalsPath}/${id}/affidavit`, { headers });
const missingRemovalPath = `${removalsPath}/rmv_00000000000000000000000000/affidavit`;

export const accountScenarios: Readonly<Record<string, Scenarios>> = {
  deleteAccount: {
    200: async () => deleteAccount(await signInPerson(), { confirm: "DELETE" }),
    ...listUnsafeRefusals("DELETE", () => "/v1/me"),
    payload_too_large: async () => sendDeletion(await signInPerson({}), " ".repeat(256 * 1_024 + 1)),
    unsupported_media_type: async () => sendDeletion(await signInPerson({}), "a=b", "text/plain"),
    forbidden: () => callAsPat("DELETE", "/v1/me", { changed: { clock: () => Date.now() + 6 * minuteMs } }),
    invalid_request: async () => deleteAccount(await signInPerson({}), { confirm: "yes" }),
  },
  exportAccount: {
    200: async () => {
      const person = await createSubscriber();
      await person.put("/v1/me/fields", { email: "pat@example.com", phone: "+1 202 555 0123" });
      await grantShare(person, { disclosure_text: "We call you once." });
      await createCompletedRemoval(person);
      return person.get("/v1/me/export");
    },
    "200 of somebody new": async () => (await signInPerson({})).get("/v1/me/export"),
    ...listPersonRefusals("GET", () => "/v1/me/export"),
  },
  listBusinessesNamingYou: {
    200: async () => {
      await createCertificateId();
      return callAsPat("GET", "/v1/me/certificates");
    },
    "200 none": async () => (await signInPerson({})).get("/v1/me/certificates"),
    invalid_request: () => callAsPat("GET", "/v1/me/certificates?starting_after=nothing"),
    ...listPersonRefusals("GET", () => "/v1/me/certificates"),
  },
  listCertificatesNamingYou: {
    200: async () => {
      await withdraw({ scope: "certificate", cert_id: await createCertificateId() });
      await createCertificateId();
      return callAsPat("GET", certificatesPath);
    },
    "200 none": async () => (await signInPerson({})).get(certificatesPath),
    invalid_request: () => callAsPat("GET", `${certificatesPath}?starting_after=nothing`),
    ...listPersonRefusals("GET", () => certificatesPath),
  },
  withdrawAsPerson: {
    200: async () => withdraw({ scope: "certificate", cert_id: await createCertificateId() }),
    "200 of a business": async () => {
      await createCertificateId();
      return withdraw({ scope: "business", business_id: world.acme.id });
    },
    "200 of everything": () => withdraw({ scope: "everything" }),
    ...listUnsafeRefusals("POST", () => withdrawPath, { scope: "everything" }),
    invalid_request: () => withdraw({ scope: "all" }),
    cert_not_found: async () => withdraw({ scope: "certificate", cert_id: (await issueToNewPerson()).certId }),
    already_revoked: async () => {
      const body = { scope: "certificate", cert_id: await createCertificateId() };
      await withdraw(body);
      return withdraw(body);
    },
    idempotency_conflict: () => sendTwice(withdraw, { scope: "everything" }, { scope: "business", business_id: world.acme.id }),
  },
  requestRemoval: {
    201: async () => (await createSubscriber()).post(removalsPath, removalRequest),
    ...listUnsafeRefusals("POST", () => removalsPath, removalRequest),
    invalid_request: () => callAsPat("POST", removalsPath, { body: { authorize: true, targets: ["https://evil.example"] } }),
    plan_required: () => callAsPat("POST", removalsPath, { body: removalRequest }),
    idempotency_conflict: async () => {
      const { post } = await createSubscriber();
      return sendTwice((body, key) => post(removalsPath, body, key), removalRequest, { authorize: true });
    },
  },
  listRemovals: {
    200: async () => {
      const person = await createSubscriber();
      await createCompletedRemoval(person);
      await createRemoval(person);
      return person.get(removalsPath);
    },
    "200 none": () => callAsPat("GET", removalsPath),
    ...listPersonRefusals("GET", () => removalsPath),
  },
  readAffidavit: {
    200: async () => {
      const person = await createSubscriber();
      return getAffidavit(await createCompletedRemoval(person), person);
    },
    not_found: () => callAsPat("GET", missingRemovalPath),
    affidavit_not_ready: async () => {
      const person = await createSubscriber();
      return getAffidavit(await createRemoval(person), person);
    },
    ...listPersonRefusals("GET", () => missingRemovalPath),
  },
};
