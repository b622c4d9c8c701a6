// The domains a business speaks for: claimed, proved, removed. Several businesses may prove one domain, each with a token of its own.
import { claimedDomain, claimLifeMs, methods, newDomainToken, recheckMs, seenInWords } from "../../../core/accounts/domain-claim.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import type { VerificationMethod } from "../../../core/access/origins.ts";
import type { Act } from "../../../core/facts.ts";
import { homeOfId, newId } from "../../../core/ids.ts";
import { ok, refuse, refusedWhere, type Refusal, type Result } from "../../../core/result.ts";
import {
  domainById,
  domainsOf,
  insertDomain,
  isClaimed,
  isTooManyDomains,
  markVerified,
  removeDomain,
  type Domain,
} from "../../../storage/domains.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import type { Runtime, Schedules, Stores, Web } from "../../services.ts";
import { commitAct, homeOf, makeOnce, type Made } from "./commit-act.ts";
import { localHostsOf, findProof } from "./domain-proof.ts";

export type { Domain };

export const listDomains = (services: Stores, member: MemberSession): Lookup<readonly Domain[]> =>
  domainsOf(homeOf(services, member), member.business.id);

type ClaimRefusal = "invalid_request" | "domain_taken" | "domain_limit" | "idempotency_conflict";

export const claimDomain = async (
  services: Runtime & Stores & Schedules & Web,
  member: MemberSession,
  request: { readonly domain: string; readonly idempotencyKey: string | null },
): Promise<Result<Made<Domain>, ClaimRefusal>> => {
  const claimed = claimedDomain(request.domain, { registrableOf: services.registrableOf, localHosts: localHostsOf(services) });
  if (!claimed.ok) return claimed;
  const { business } = member;
  const domain = claimed.value;
  const once = { route: "POST /v1/business/portal/domains", key: request.idempotencyKey, wanted: { domain } };
  return makeOnce<Domain>(services, member, once, async (createdAt) => {
    const id = newId("dom_", homeOfId(business.id), services.random);
    const claim = { id, domain, token: newDomainToken(services.random), createdAt, expiresAt: createdAt + claimLifeMs };
    return ok({
      value: { ...claim, status: "pending", method: null, verifiedAt: null, checkedAt: null, lapsesAt: null },
      rows: insertDomain(homeOf(services, member), business.id, claim),
      act: { type: "domain.added", entityType: "domain", entityId: id, payload: { domain } },
    });
  })
    .catch(refusedWhere(isClaimed, "domain_taken"))
    .catch(refusedWhere(isTooManyDomains, "domain_limit"));
};

/** Not proved; with what stands in DNS instead, for the page of the business's own people. The wire says it in constant words. */
interface Unproved extends Refusal<"domain_unverified"> {
  readonly otherTexts: readonly string[];
}

const notProvable = "This domain waits for no proof. Remove it and add it again.";

/**
 * Looks for the proof and, where it is, marks the domain. DNS counts first, which covers sub-domains too. A domain that is verified stays
 * so when nothing is found; another method that is found takes the place of the one before.
 */
export const proveDomain = async (
  services: Runtime & Stores & Schedules & Web,
  member: MemberSession,
  id: string,
  method: VerificationMethod | null,
): Promise<Result<Domain, "not_found"> | Unproved> => {
  const db = homeOf(services, member);
  const { business } = member;
  const found = await domainById(db, business.id, id);
  if (found === null) return refuse("not_found");
  const { token, domain, expiresAt, status } = found;
  const isOver = status === "pending" && expiresAt !== null && expiresAt <= services.clock();
  if (token === null || isOver) return { ...refuse("domain_unverified", notProvable), otherTexts: [] };

  const tried = method === null ? methods : [method];
  const seen = await Promise.all(tried.map(async (one) => ({ method: one, ...(await findProof(services, { domain, token }, one)) })));
  const proof = seen.find(({ sighting }) => sighting === "found");
  if (proof === undefined)
    return { ...refuse("domain_unverified", seenInWords(seen)), otherTexts: seen.flatMap(({ otherTexts }) => otherTexts) };

  const now = services.clock();
  const { method: provedBy } = proof;
  const act: Act = { type: "domain.verified", entityType: "domain", entityId: id, payload: { domain, method: provedBy } };
  await commitAct(services, member, [markVerified(db, id, { method: provedBy, now, nextCheckAt: now + recheckMs })], act, { at: now });
  const after = await domainById(db, business.id, id);
  return after === null ? refuse("not_found") : ok(after); // somebody removed it in between
};

/** From here on it is not on any form's list. Certificates that were issued stay as they are. */
export const dropDomain = async (
  services: Runtime & Stores & Schedules,
  member: MemberSession,
  id: string,
): Promise<Result<string, "not_found">> => {
  const db = homeOf(services, member);
  const found = await domainById(db, member.business.id, id);
  if (found === null) return refuse("not_found");
  const act: Act = { type: "domain.removed", entityType: "domain", entityId: id, payload: { domain: found.domain } };
  await commitAct(services, member, [removeDomain(db, member.business.id, id)], act);
  return ok(id);
};
