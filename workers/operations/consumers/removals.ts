// Removals: a person lets us ask others to delete them, an operator notes what came of it, and the end is an affidavit.
import type { Person } from "../../../core/access/principal.ts";
import type { ConsumerPlan } from "../../../core/billing/plans.ts";
import { hexOf } from "../../../core/bytes.ts";
import { factOf } from "../../../core/facts.ts";
import { sha256 } from "../../../core/hash.ts";
import { homeOfId, newId, type RemovalId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { affidavitStatement, affidavitText } from "../../../core/removals/affidavit.ts";
import { advanceRemoval, readTargets, type Removal, type RemovalStatus } from "../../../core/removals/removal.ts";
import { ok, refuse, refusedWhere, type Result } from "../../../core/result.ts";
import { chosenLine } from "../../../core/text.ts";
import { commit, retrying } from "../../../storage/commit.ts";
import { chainOfPerson, consumerAddress, personRecord } from "../../../storage/people.ts";
import { together, type Lookup } from "../../../storage/lookups.ts";
import {
  insertRemoval,
  isOfNobody,
  isOutdatedRemoval,
  openAffidavit,
  removalById,
  removalsOf,
  updateRemoval,
} from "../../../storage/removals.ts";
import type { Papers, Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import type { Keeping } from "../access/idempotency.ts";
import { mailTo } from "../shares/mails.ts";

export type { Removal };

export interface RemovalRequest {
  /** Null: all of the list. */
  readonly targets: readonly string[] | null;
  readonly notes: string | null;
  readonly language: MailLanguage;
  readonly requestId: string;
}

const maxNotesLength = 500;

/** Refuses what is not on the list, then a plan without removals. */
export const requestRemoval = async (
  services: Runtime & Stores & Schedules,
  person: Person,
  request: RemovalRequest,
  keep?: Keeping<Removal>,
): Promise<Result<Removal, "invalid_request" | "unauthorized" | "plan_required">> => {
  const { vault } = services;
  const targets = readTargets(request.targets);
  if (!targets.ok) return targets;
  const notes = chosenLine("notes", request.notes, maxNotesLength);
  if (!notes.ok) return notes;
  const db = services.homes.of(person.id);
  const record = await personRecord(db, person.id);
  if (record === null) return refuse("unauthorized");
  if (record.plan !== "white_glove") return refuse("plan_required");
  const now = services.clock();
  const id = newId("rmv_", homeOfId(person.id), services.random) as RemovalId;
  const act = { type: "removal.requested", entityType: "removal", entityId: id, payload: { targets: [...targets.value] } } as const;
  const { language, requestId } = request;
  const rows = await insertRemoval(db, vault, {
    id,
    consumerId: person.id,
    targets: targets.value,
    notes: notes.value,
    language,
    now,
    requestId,
  });
  const removal: Removal = {
    id,
    consumerId: person.id,
    status: "requested",
    targets: targets.value.map((name) => ({ name, status: "requested", completedAt: null })),
    notes: notes.value,
    requestedAt: now,
    completedAt: null,
    recheckAt: null,
    affidavit: null,
  };
  const kept = (await keep?.(removal)) ?? [];
  return commit(db, services, [...rows, ...kept], [factOf(person, act, now)]).then(
    () => ok(removal),
    refusedWhere(isOfNobody, "unauthorized"),
  );
};

/** The newest first. Whoever asked once keeps seeing it, whatever the plan. */
export const listRemovals = (services: Stores, { id }: Pick<Person, "id">): Lookup<readonly Removal[]> =>
  removalsOf(services.homes.of(id), services.vault, id);

/** Those, and the plan, which says whether more can be asked for; null for a person who is gone. */
export const removalsAndPlan = async (
  services: Stores,
  { id }: Pick<Person, "id">,
): Promise<{ readonly list: readonly Removal[]; readonly plan: ConsumerPlan | null }> => {
  const db = services.homes.of(id);
  const [list, record] = await together(db, [listRemovals(services, { id }), personRecord(db, id)]);
  return { list, plan: record === null ? null : record.plan };
};

/** The file. Refuses `not_found` for somebody else's, `affidavit_not_ready` before the end. */
export const readAffidavit = async (
  services: Stores,
  person: Pick<Person, "id">,
  id: RemovalId | null,
): Promise<Result<Uint8Array<ArrayBuffer>, "not_found" | "affidavit_not_ready">> => {
  const known = id === null ? null : await removalById(services.homes.of(id), services.vault, id);
  if (known === null || known.removal.consumerId !== person.id) return refuse("not_found");
  if (known.affidavitSealed === null) return refuse("affidavit_not_ready");
  return ok(await openAffidavit(services.vault, known.removal, known.affidavitSealed));
};

/**
 * For the operator: what came of asking some of the targets. With the last of them the removal is over, and where anybody removed the
 * person the affidavit is made, signed and mailed about. Refuses `not_found` also where the person is gone.
 */
export const recordRemovalProgress = async (
  services: Runtime & Stores & Proofs & Papers & Schedules,
  id: RemovalId | null,
  found: ReadonlyMap<string, RemovalStatus>,
): Promise<Result<Removal, "not_found" | "invalid_request" | "storage_unavailable">> => {
  const { vault, signer, config } = services;
  if (id === null) return refuse("not_found");
  const db = services.homes.of(id);
  // Where another act was first, it is decided again on what that left.
  return retrying([isOutdatedRemoval], async () => {
    const known = await removalById(db, vault, id);
    if (known === null) return refuse("not_found");
    const { consumerId } = known.removal;
    const [email, chain] = await Promise.all([consumerAddress(db, vault, consumerId), chainOfPerson(db, consumerId)]);
    if (email === null || chain === null) return refuse("not_found");
    const now = services.clock();
    const advanced = advanceRemoval(known.removal, found, now);
    if (!advanced.ok) return advanced;
    const { removal, isCompleted } = advanced.value;
    const requestId = crypto.randomUUID();
    const change = { was: known.changedBy, requestId };
    if (!isCompleted) {
      await commit(db, services, await updateRemoval(db, vault, removal, { ...change, affidavit: null }), []);
      return ok(removal);
    }
    const issuer = new URL(config.baseUrl).host;
    const file = await services.writePdf(affidavitText(removal, { email, kid: signer.kid, issuer }));
    const hash = hexOf(sha256(file));
    const affidavit = { sha256: hash, signature: await signer.sign(affidavitStatement(removal, hash)), kid: signer.kid };
    const asked = removal.targets.length;
    const completed = removal.targets.filter(({ status }) => status === "completed").length;
    const affidavitUrl = `${config.appUrl}/app/removals/${id}`;
    const mail = await mailTo(services, db, consumerId, {
      template: "removal_completed",
      language: known.language,
      data: { completed, asked, recheck_at: removal.recheckAt as number, affidavit_url: affidavitUrl },
    });
    const rows = await updateRemoval(db, vault, removal, { ...change, affidavit: { ...affidavit, file } });
    const payload = { affidavit_sha256: hash, asked, removed: completed };
    const act = { type: "removal.completed", entityType: "removal", entityId: id, payload } as const;
    await commit(db, services, [...rows, ...mail], [factOf({ chain, actor: { kind: "operator" } }, act, now)]);
    services.scheduleMail();
    return ok({ ...removal, affidavit });
  });
};
