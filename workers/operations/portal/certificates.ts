// A business's certificates as its people read them: masked, until somebody asks for the person, which is entered in the audit chain. Whom a
// member searches for belongs into no URL, so the list is asked for by a sealed one, which only that business's pages can open.
import type { MemberSession } from "../../../core/access/session.ts";
import type { PublishedCertificate, View } from "../../../core/certificates/published.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { together } from "../../../storage/lookups.ts";
import { keptViews, viewTrail } from "../../../storage/page-views.ts";
import type { EncryptionContext } from "../../../storage/vault.ts";
import type { Memories, Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import { readAs, type CertificateDetail } from "../certificates/read.ts";
import { verifyCertificate } from "../certificates/verify.ts";
import { homeOf } from "./commit-act.ts";

/** As it is published. Refuses `cert_not_found` for unknown and foreign ids alike. */
export const ownCertificate = async (
  services: Runtime & Stores & Memories & Proofs,
  member: MemberSession,
  certId: CertId,
): Promise<Result<PublishedCertificate, "cert_not_found">> => {
  const found = await verifyCertificate(services, certId);
  return found.ok && found.value.businessId !== member.business.id ? refuse("cert_not_found") : found;
};

/** With the person and the circumstances, once it stands in the audit chain who asked. */
export const revealCertificate = async (
  services: Runtime & Stores & Memories & Proofs & Schedules,
  member: MemberSession,
  certId: CertId,
): Promise<Result<CertificateDetail, "cert_not_found">> => {
  const own = await ownCertificate(services, member, certId);
  if (!own.ok) return own;
  const reader = { business: member.business, environment: own.value.environment };
  return readAs(services, reader, { kind: "member", id: member.userId }, certId);
};

export interface ViewPage {
  readonly certificate: PublishedCertificate;
  readonly views: readonly View[];
  /** Opens that are kept, on all pages. */
  readonly total: number;
  readonly page: number;
  readonly perPage: number;
}

/** A certificate with who opened its public page, newest first. Refuses as `ownCertificate`. */
export const viewsOfCertificate = async (
  services: Runtime & Stores & Memories & Proofs,
  member: MemberSession,
  certId: CertId,
  { page, perPage }: { readonly page: number; readonly perPage: number },
): Promise<Result<ViewPage, "cert_not_found">> => {
  const own = await ownCertificate(services, member, certId);
  if (!own.ok) return own;
  const db = homeOf(services, member);
  const [views, total] = await together(db, [viewTrail(db, services.vault, certId, perPage, (page - 1) * perPage), keptViews(db, certId)]);
  return ok({ certificate: own.value, views, total, page, perPage });
};

const contextOf = ({ business }: MemberSession): EncryptionContext => ({
  table: "url",
  record: "search",
  field: "person",
  owner: business.id,
});

export const sealAskedPerson = ({ vault }: Stores, member: MemberSession, person: string): Promise<string> =>
  vault.seal(contextOf(member), person);

/** For whatever we did not seal for this business, somebody who is nobody. */
export const openAskedPerson = async ({ vault }: Stores, member: MemberSession, sealed: string): Promise<string> => {
  try {
    return await vault.open(contextOf(member), sealed);
  } catch {
    return "@"; // an address is whatever somebody types: it finds nobody
  }
};
