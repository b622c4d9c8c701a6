// Implements POST /v1/me/removals. A person authorizes us to ask data brokers to delete the person's data.
import type { Person } from "../../../core/access/principal.ts";
import { createAuditedEvent } from "../../../core/domain-events.ts";
import { generateId, shardOfId, type RemovalId } from "../../../core/ids.ts";
import type { Language } from "../../../core/language.ts";
import { parseRemovalTargets, type Removal } from "../../../core/removals/removal.ts";
import { refuse, ok, refuseWhen, type Result } from "../../../core/result.ts";
import { parseLine } from "../../../core/text.ts";
import { commit } from "../../../storage/commit.ts";
import { findPersonRecord } from "../../../storage/people.ts";
import { insertRemoval, isMissingConsumer } from "../../../storage/removals.ts";
import type { WriteDependencies } from "../dependencies.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";

export interface RemovalRequest {
  /** The data brokers to contact; null for all of them. */
  readonly targets: readonly string[] | null;
  readonly notes: string | null;
  readonly language: Language;
  readonly requestId: string;
}

const maxNotesLength = 500;

/**
 * Creates the removal. Returns the first of these errors that applies: `invalid_request` for unknown targets or notes over 500 characters,
 * `unauthorized` if the account no longer exists, `plan_required`.
 */
export const requestRemoval = async (
  services: WriteDependencies,
  person: Person,
  request: RemovalRequest,
  saveIdempotentResponse: SaveIdempotentResponse<Removal> = async () => [],
): Promise<Result<Removal, "invalid_request" | "unauthorized" | "plan_required">> => {
  const { vault } = services;
  const targets = parseRemovalTargets(request.targets);
  if (!targets.ok) return targets;
  const notes = parseLine("notes", request.notes, maxNotesLength);
  if (!notes.ok) return notes;
  const db = services.shards.forId(person.id);
  const record = await findPersonRecord(db, person.id);
  if (record === null) return refuse("unauthorized");
  if (record.plan !== "white_glove") return refuse("plan_required");
  const now = services.clock();
  const id = generateId("rmv_", shardOfId(person.id), services.random) as RemovalId;
  const action = { type: "removal.requested", entityType: "removal", entityId: id, payload: { targets: [...targets.value] } } as const;
  const { language, requestId } = request;
  const statements = await insertRemoval(db, vault, {
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
  const saved = await saveIdempotentResponse(removal);
  return commit(db, services, [...statements, ...saved], [createAuditedEvent(person, action, now)]).then(
    () => ok(removal),
    refuseWhen(isMissingConsumer, "unauthorized"),
  );
};
