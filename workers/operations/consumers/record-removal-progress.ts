// Records how data brokers responded to a removal request. Operators run this operation.
import { toHex } from "../../../core/bytes.ts";
import { createAuditedEvent } from "../../../core/domain-events.ts";
import { sha256 } from "../../../core/hash.ts";
import type { RemovalId } from "../../../core/ids.ts";
import { buildAffidavit, formatAffidavitStatement } from "../../../core/removals/affidavit.ts";
import { writePdf } from "../../../core/removals/pdf.ts";
import { applyRemovalProgress, type RemovalStatus, type Removal } from "../../../core/removals/removal.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { retryOnConflict, commit } from "../../../storage/commit.ts";
import { findConsumerAddress, findPersonChain } from "../../../storage/people.ts";
import { isOutdatedRemoval, findRemoval, updateRemovalRow } from "../../../storage/removals.ts";
import type { ConsumerWriteDependencies } from "./dependencies.ts";
import { prepareMailToPerson } from "../shares/mail-to-person.ts";

/**
 * Updates the status of some targets. If no target is open anymore and at least one has removed the person's data, signs the affidavit and
 * emails the person. Returns `not_found` if the removal or account does not exist, then the errors of `applyRemovalProgress`, then
 * `storage_unavailable` if concurrent changes made every attempt fail.
 */
export const recordRemovalProgress = async (
  services: ConsumerWriteDependencies,
  id: RemovalId | null,
  found: ReadonlyMap<string, RemovalStatus>,
): Promise<Result<Removal, "not_found" | "invalid_request" | "storage_unavailable">> => {
  const { vault, signer, config } = services;
  if (id === null) return refuse("not_found");
  const db = services.shards.forId(id);
  return retryOnConflict([isOutdatedRemoval], async () => {
    const known = await findRemoval(db, vault, id);
    if (known === null) return refuse("not_found");
    const { consumerId } = known.removal;
    const [email, chain] = await Promise.all([findConsumerAddress(db, vault, consumerId), findPersonChain(db, consumerId)]);
    if (email === null || chain === null) return refuse("not_found");
    const now = services.clock();
    const advanced = applyRemovalProgress(known.removal, found, now);
    if (!advanced.ok) return advanced;
    const { removal, isCompleted } = advanced.value;
    const requestId = crypto.randomUUID();
    const change = { was: known.changedBy, requestId };
    if (!isCompleted) {
      await commit(db, services, await updateRemovalRow(db, vault, removal, { ...change, affidavit: null }), []);
      return ok(removal);
    }
    const issuer = new URL(config.baseUrl).host;
    const file = writePdf(buildAffidavit(removal, { email, kid: signer.kid, issuer }));
    const hash = toHex(sha256(file));
    const affidavit = { sha256: hash, signature: await signer.sign(formatAffidavitStatement(removal, hash)), kid: signer.kid };
    const targetCount = removal.targets.length;
    const completedCount = removal.targets.filter(({ status }) => status === "completed").length;
    const affidavitUrl = `${config.appUrl}/app/removals/${id}`;
    const mail = await prepareMailToPerson(services, db, consumerId, {
      template: "removal_completed",
      language: known.language,
      data: { completedCount, targetCount, recheckAt: removal.recheckAt as number, affidavitUrl },
    });
    const statements = await updateRemovalRow(db, vault, removal, { ...change, affidavit: { ...affidavit, file } });
    const payload = { affidavit_sha256: hash, asked: targetCount, removed: completedCount };
    const act = { type: "removal.completed", entityType: "removal", entityId: id, payload } as const;
    await commit(db, services, [...statements, ...mail], [createAuditedEvent({ chain, actor: { kind: "operator" } }, act, now)]);
    services.scheduleMail();
    return ok({ ...removal, affidavit });
  });
};
