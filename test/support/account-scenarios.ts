// An answer of each success and each refusal of the routes of a person's account that are not about shares: its end, its export,
// certificates that name the person, removals.
import "@cantoo/pdf-lib"; // hundreds of modules: loaded here, so that no test's time runs meanwhile
import { env } from "cloudflare:workers";
import { minuteMs } from "../../core/time.ts";
import { removalIdOf } from "../../core/ids.ts";
import { recordRemovalProgress } from "../../workers/operations/consumers/removals.ts";
import { changedServices } from "./changed-services.ts";
import { platform, twice, type Scenarios } from "./scenarios.ts";
import { asPat, pat, personRefusals, unsafeRefusals } from "./sharing-scenarios.ts";
import { grant, person, type SignedPerson } from "./sharing.ts";
import { held } from "./withdrawing.ts";
import { call, world, type Answer } from "./world.ts";

const removeRaw = ({ headers }: SignedPerson, body: string, type = "application/json"): Promise<Answer> =>
  call("/v1/me", { method: "DELETE", headers: { ...headers, "content-type": type }, body });
/** By somebody who has just signed in. */
const remove = (by: SignedPerson, body: object = {}): Promise<Answer> => removeRaw(by, JSON.stringify(body));

const certifiedId = async (): Promise<string> => (await held({ fields: { email: (await pat()).email } })).certId;
const certificatesPath = `/v1/me/certificates/${world.acme.id}`;
const withdrawPath = "/v1/me/certificates/withdraw";
const withdraw = (body: object, headers: Record<string, string> = {}) => asPat("POST", withdrawPath, { body, headers });

const removalsPath = "/v1/me/removals";
const asked = { authorize: true, targets: ["spokeo"] };
const onPlan = async (): Promise<SignedPerson> => {
  const by = await person({});
  await env.DB.prepare("UPDATE consumers SET plan = 'white_glove' WHERE id = ?")
    .bind((await by.get("/v1/me")).body.data.id)
    .run();
  return by;
};
const removalOf = async (by: SignedPerson): Promise<string> =>
  (await by.post(removalsPath, { ...asked, notes: "Also Patricia" })).body.data.id;
const completed = async (by: SignedPerson): Promise<string> => {
  const id = await removalOf(by);
  await recordRemovalProgress(changedServices(platform, {}), removalIdOf(id), new Map([["spokeo", "completed"]]));
  return id;
};
const affidavit = (id: string, { headers }: Pick<SignedPerson, "headers">) => call(`${removalsPath}/${id}/affidavit`, { headers });
const noRemoval = `${removalsPath}/rmv_00000000000000000000000000/affidavit`;

export const accountScenarios: Readonly<Record<string, Scenarios>> = {
  deleteAccount: {
    200: async () => remove(await person(), { confirm: "DELETE" }),
    ...unsafeRefusals("DELETE", () => "/v1/me"),
    payload_too_large: async () => removeRaw(await person({}), " ".repeat(256 * 1_024 + 1)),
    unsupported_media_type: async () => removeRaw(await person({}), "a=b", "text/plain"),
    forbidden: () => asPat("DELETE", "/v1/me", { changed: { clock: () => Date.now() + 6 * minuteMs } }),
    invalid_request: async () => remove(await person({}), { confirm: "yes" }),
  },
  exportAccount: {
    200: async () => {
      const by = await onPlan();
      await by.put("/v1/me/fields", { email: "pat@example.com", phone: "+1 202 555 0123" });
      await grant(by, { disclosure_text: "We call you once." });
      await completed(by);
      return by.get("/v1/me/export");
    },
    "200 of somebody new": async () => (await person({})).get("/v1/me/export"),
    ...personRefusals("GET", () => "/v1/me/export"),
  },
  listBusinessesNamingYou: {
    200: async () => {
      await certifiedId();
      return asPat("GET", "/v1/me/certificates");
    },
    "200 none": async () => (await person({})).get("/v1/me/certificates"),
    invalid_request: () => asPat("GET", "/v1/me/certificates?starting_after=nothing"),
    ...personRefusals("GET", () => "/v1/me/certificates"),
  },
  listCertificatesNamingYou: {
    200: async () => {
      await withdraw({ scope: "certificate", cert_id: await certifiedId() });
      await certifiedId();
      return asPat("GET", certificatesPath);
    },
    "200 none": async () => (await person({})).get(certificatesPath),
    invalid_request: () => asPat("GET", `${certificatesPath}?starting_after=nothing`),
    ...personRefusals("GET", () => certificatesPath),
  },
  withdrawAsPerson: {
    200: async () => withdraw({ scope: "certificate", cert_id: await certifiedId() }),
    "200 of a business": async () => {
      await certifiedId();
      return withdraw({ scope: "business", business_id: world.acme.id });
    },
    "200 of everything": () => withdraw({ scope: "everything" }),
    ...unsafeRefusals("POST", () => withdrawPath, { scope: "everything" }),
    invalid_request: () => withdraw({ scope: "all" }),
    cert_not_found: async () => withdraw({ scope: "certificate", cert_id: (await held()).certId }),
    already_revoked: async () => {
      const body = { scope: "certificate", cert_id: await certifiedId() };
      await withdraw(body);
      return withdraw(body);
    },
    idempotency_conflict: () => twice(withdraw, { scope: "everything" }, { scope: "business", business_id: world.acme.id }),
  },
  requestRemoval: {
    201: async () => (await onPlan()).post(removalsPath, asked),
    ...unsafeRefusals("POST", () => removalsPath, asked),
    invalid_request: () => asPat("POST", removalsPath, { body: { authorize: true, targets: ["https://evil.example"] } }),
    plan_required: () => asPat("POST", removalsPath, { body: asked }),
    idempotency_conflict: async () => {
      const { post } = await onPlan();
      return twice((body, key) => post(removalsPath, body, key), asked, { authorize: true });
    },
  },
  listRemovals: {
    200: async () => {
      const by = await onPlan();
      await completed(by);
      await removalOf(by);
      return by.get(removalsPath);
    },
    "200 none": () => asPat("GET", removalsPath),
    ...personRefusals("GET", () => removalsPath),
  },
  readAffidavit: {
    200: async () => {
      const by = await onPlan();
      return affidavit(await completed(by), by);
    },
    not_found: () => asPat("GET", noRemoval),
    affidavit_not_ready: async () => {
      const by = await onPlan();
      return affidavit(await removalOf(by), by);
    },
    ...personRefusals("GET", () => noRemoval),
  },
};
