// GET /v1/certs/{id}: a certificate opened for its owner. Every reading is in the business's audit outbox before it is answered.
import { keyActor, type Principal, type Reader } from "../../../core/access/principal.ts";
import type { Actor } from "../../../core/actor.ts";
import type { Json } from "../../../core/canonical-json.ts";
import type { OpenedCertificate, View } from "../../../core/certificates/published.ts";
import { factOf, type Act, type FactType } from "../../../core/facts.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { openedCertificate } from "../../../storage/certificates.ts";
import { commit } from "../../../storage/commit.ts";
import { policyText } from "../../../storage/policies.ts";
import { viewTrail } from "../../../storage/page-views.ts";
import { failingAlone } from "../../log.ts";
import type { Memories, Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import { attestedCertificate } from "../attestations.ts";

const shownViews = 100;

export interface OpenedForReading {
  readonly opened: OpenedCertificate;
  /** The newest opens of its public page, newest first. */
  readonly views: readonly View[];
  /** Text of each linked policy by its content hash; null where the text could not be read. */
  readonly policyTexts: ReadonlyMap<string, string | null>;
}

export interface CertificateDetail extends OpenedForReading {
  /** The issuance in its business's audit chain; null until it is there, and while the log does not answer. */
  readonly entry: { readonly seq: string; readonly hash: string; readonly prevHash: string } | null;
}

/** Opens a certificate of the reader for reading, and puts that reading into the business's audit chain first. */
export const openForReading = async (
  services: Runtime & Stores & Memories & Proofs & Schedules,
  reader: Reader,
  actor: Actor,
  certId: CertId,
  type: FactType,
  payload: { readonly [key: string]: Json },
): Promise<Result<OpenedForReading, "cert_not_found">> => {
  const db = services.homes.of(certId);
  const { business, environment } = reader;
  const opened = await openedCertificate(db, services.vault, { certId, businessId: business.id, environment });
  if (opened === null) return refuse("cert_not_found");
  const act: Act = { type, entityType: "certificate", entityId: certId, payload };
  const read = factOf({ chain: opened.chain, actor }, act, services.clock());
  const [certificate, views, texts] = await Promise.all([
    attestedCertificate(services, opened.certificate),
    viewTrail(db, services.vault, certId, shownViews),
    Promise.all(
      opened.certificate.policies.map(async (policy) => [policy.contentHash, await policyText(services.kv, policy.contentHash)] as const),
    ),
    commit(db, services, [], [read]),
  ]);
  return ok({
    opened: { ...opened, certificate },
    views,
    policyTexts: new Map(texts),
  });
};

const issuedEntry = async (
  services: Runtime & Proofs,
  { chain, issuedEntry: row }: OpenedCertificate,
): Promise<CertificateDetail["entry"]> => {
  if (row === null) return null;
  const found = await failingAlone(services, "audit", () => services.auditLog(chain.shard).entriesOf(chain.tag, [row]));
  const entry = found?.[0];
  return entry === undefined ? null : { seq: entry.seq, hash: entry.hash, prevHash: entry.prev_hash };
};

/** The owner's detail: decrypted subject and evidence. Refuses `cert_not_found` for unknown and foreign ids alike. */
export const readCertificate = (
  services: Runtime & Stores & Memories & Proofs & Schedules,
  principal: Principal,
  certId: CertId,
): Promise<Result<CertificateDetail, "cert_not_found">> => readAs(services, principal, keyActor(principal), certId);

/** Likewise, whoever it is that may read it. */
export const readAs = async (
  services: Runtime & Stores & Memories & Proofs & Schedules,
  reader: Reader,
  actor: Actor,
  certId: CertId,
): Promise<Result<CertificateDetail, "cert_not_found">> => {
  const read = await openForReading(services, reader, actor, certId, "certificate.subject_read", {});
  if (!read.ok) return read;
  return ok({ ...read.value, entry: await issuedEntry(services, read.value.opened) });
};
