// Replays the demo month with the real operations, step by step, each at its own time. After the last step, each EventSequence object
// assigns sequence numbers to its events and passes them to the endpoints.
import { environments } from "../../core/access/entitlement.ts";
import type { Principal } from "../../core/access/principal.ts";
import type { MemberSession } from "../../core/access/session.ts";
import type { BusinessId, ClientId } from "../../core/ids.ts";
import { dayMs, hourMs, type Instant } from "../../core/time.ts";
import type { Env } from "../../workers/env.ts";
import { authenticateApiKey } from "../../workers/operations/access/authenticate-api-key.ts";
import { authenticateSession } from "../../workers/operations/access/authenticate-session.ts";
import { requestSignInCode } from "../../workers/operations/access/request-sign-in-code.ts";
import { verifySignInCode } from "../../workers/operations/access/verify-sign-in-code.ts";
import type { DemoAccount } from "./account.ts";
import { listAccountSteps } from "./account-steps.ts";
import { createLeads, listCertificateSteps } from "./certificate-steps.ts";
import type { DeliveryQueue } from "./delivery-queue.ts";
import { pickVisitor } from "./leads.ts";
import { getValue, type Month } from "./month.ts";
import { createDice } from "./random.ts";
import { listSandboxSteps } from "./sandbox-steps.ts";
import { openReplay, type Replay } from "./services.ts";
import { listShareSteps } from "./share-steps.ts";
import { openSite } from "./site.ts";
import { listWithdrawalSteps } from "./withdrawal-steps.ts";

const seed = 30;
const setupAgeMs = 31 * dayMs;

const openMonth = async (
  { services, setTime, finishStep, takeCode }: Replay,
  { businessId, clients, keys, ownerEmail }: DemoAccount,
  now: Instant,
): Promise<Month> => {
  const dice = createDice(seed);
  const signIn: Month["signIn"] = async (email, realm, name) => {
    getValue(await requestSignInCode(services, { email, realm, language: "en", browser: "demo" }));
    await finishStep();
    const { userAgent } = pickVisitor(dice);
    return getValue(
      await verifySignInCode(services, { email, code: takeCode(email), realm, name, replaces: null, browser: "demo", userAgent }),
    ).token;
  };
  setTime(now - setupAgeMs);
  return {
    services,
    dice,
    now,
    signIn,
    site: await openSite(services, businessId as BusinessId),
    clientId: clients.live as ClientId,
    businessId: businessId as BusinessId,
    authenticate: async (environment) => (await authenticateApiKey(services, keys[environment])) as Principal,
    owner: (await authenticateSession(services, await signIn(ownerEmail, "business", null))) as MemberSession,
  };
};

/** Sends all events to the endpoints, as `delivery-queue.ts` describes. */
const deliverEvents = async (env: Env, { services, businessId, now }: Month): Promise<void> => {
  for (const environment of environments) {
    const sequence = services.eventSequence(businessId, environment);
    await sequence.drain();
    for (const { endpoint } of await sequence.listEndpoints())
      await (env.DELIVERY_QUEUE.getByName(endpoint.id) as unknown as DurableObjectStub<DeliveryQueue>).sendUntil(now);
  }
};

/** Replays the month and returns the number of live certificates that were issued. */
export const replayMonth = async (env: Env, account: DemoAccount, now: Instant): Promise<{ readonly certificates: number }> => {
  const replay = await openReplay(env);
  const month = await openMonth(replay, account, now);
  const leads = createLeads(month);
  const steps = [
    ...listAccountSteps(month, now - setupAgeMs + hourMs),
    ...listCertificateSteps(month, leads),
    ...listWithdrawalSteps(month, leads),
    ...listShareSteps(month, account.consumerEmail),
    ...listSandboxSteps(month, account.clients.sandbox as ClientId),
  ];
  for (const { at, run } of steps.toSorted((a, b) => a.at - b.at)) {
    replay.setTime(Math.floor(at));
    await run();
    await replay.finishStep();
  }
  await deliverEvents(env, month);
  return { certificates: leads.length };
};
