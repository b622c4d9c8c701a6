// Implements POST /v1/sandbox/trigger. Performs the action that causes an event of the requested type, and returns the event. The event is
// an ordinary one, with a share, audit entries and deliveries.
import { standardEventTypes, type EventType } from "../../../core/events/event.ts";
import type { ShareId } from "../../../core/ids.ts";
import { ok, refuse, type Refusal, type Result } from "../../../core/result.ts";
import { decideClockMove } from "../../../core/sandbox/clock.ts";
import { computeNextDueAt } from "../../../core/shares/due-dates.ts";
import { contactKeys, type ContactKey, type FieldGroup } from "../../../core/shares/fields.ts";
import { getPersonaFields } from "../../../core/shares/persona.ts";
import type { Share } from "../../../core/shares/share.ts";
import { dayMs, secondMs } from "../../../core/time.ts";
import { getSandboxClock } from "../../../storage/sandbox-clocks.ts";
import { findChangeableShare, type ChangeableShare } from "../../../storage/shares.ts";
import type { SandboxWriteDependencies } from "./dependencies.ts";
import { getEventFeed, type FeedPage } from "../events/get-event-feed.ts";
import { acknowledgeShare } from "../shares/acknowledge-share.ts";
import { revokeShareAsTestPerson } from "../shares/revoke-share-as-test-person.ts";
import { advanceSandboxClock } from "./advance-sandbox-clock.ts";
import type { SandboxActor } from "./get-clock-reading.ts";
import { sweepSandbox } from "./sweep-sandbox.ts";
import { renewAsTestPerson } from "./renew-as-test-person.ts";
import { shareAsTestPerson } from "./share-as-test-person.ts";
import { decideTestUpdate, updateFieldsAsTestPerson } from "./update-fields-as-test-person.ts";

/** Excludes certificate events, because only a submitted form can issue a certificate, and only a withdrawal can revoke it. */
export type TriggerableEventType = Exclude<(typeof standardEventTypes)[number], "certificate.revoked">;
export const triggerableEventTypes = standardEventTypes.filter((type): type is TriggerableEventType => type !== "certificate.revoked");

export interface TriggerRequest {
  readonly type: TriggerableEventType;
  /** The share to use; null creates a new share. */
  readonly shareId: ShareId | null;
  /** The new values for a `consumer.updated` event. If null, the first field of the event's group gets a different value. */
  readonly fields: ReadonlyMap<ContactKey, string | null> | null;
}

export interface TriggeredEvent {
  readonly share: Share;
  readonly event: FeedPage["events"][number];
}

const shareDurationDays: Readonly<Partial<Record<EventType, number>>> = { "share.expiring": 2, "share.expired": 1 };
const maxSweeps = 11; // a full sandbox has 10,000 shares, and each sweep handles 1,000; the last sweep finds that nothing is left

/** Moves the sandbox clock to the share's next warning or to its end. This also triggers everything that is due before then. */
const advanceToShareMilestone = async (
  services: SandboxWriteDependencies,
  tester: SandboxActor,
  { share }: ChangeableShare,
  isEnd: boolean,
): Promise<Result<ShareId>> => {
  const db = services.shards.forId(tester.business.id);
  const now = services.clock() + share.clockOffsetMs;
  const milestone = isEnd ? share.expiresAt : computeNextDueAt(share, now);
  if (!isEnd && milestone === share.expiresAt)
    return refuse("invalid_request", "share_id: must be a share that can still get an expiry warning.");
  const moved = await advanceSandboxClock(services, tester, { to: milestone });
  if (!moved.ok) return moved;
  let hasMore = moved.value.hasMore;
  for (let sweeps = 1; hasMore && sweeps < maxSweeps; sweeps += 1) hasMore = (await sweepSandbox(services, db, tester.business.id)).hasMore;
  return ok(share.id);
};

/**
 * Acknowledges a revoked share. Unlike `acknowledgeShare`, returns `cease_not_open` for a repeated acknowledgment, because no event would
 * result.
 */
const acknowledgeAsTester = async (
  services: SandboxWriteDependencies,
  tester: SandboxActor,
  id: ShareId,
  requestId: string,
): Promise<Result<ShareId>> => {
  const details = { note: null, acknowledgedBy: null, actions: [], requestId };
  const ceased = await acknowledgeShare(services, tester, tester.actor, id, details);
  if (!ceased.ok) return ceased;
  return ceased.value.isRepeated ? refuse("cease_not_open") : ok(id);
};

const isFieldUpdate = (type: TriggerableEventType): boolean => type.startsWith("consumer.updated.");

const getFieldGroup = (type: TriggerableEventType): FieldGroup => type.slice("consumer.updated.".length) as FieldGroup;

/** Performs the action and returns the ID of the share that the event is about. */
const performTriggerAction = async (
  services: SandboxWriteDependencies,
  tester: SandboxActor,
  { type, shareId, fields }: TriggerRequest,
  requestId: string,
): Promise<Result<ShareId>> => {
  const { business } = tester;
  const db = services.shards.forId(business.id);
  const target =
    shareId === null ? await shareAsTestPerson(services, tester, { durationDays: shareDurationDays[type] ?? 365, requestId }) : ok(shareId);
  if (!target.ok || type === "share.created") return target;
  const found = await findChangeableShare(db, target.value, { businessId: business.id, environment: "sandbox" }, services.clock());
  if (found === null) return refuse("not_found");
  if (type === "business.ceased") {
    const revoked = shareId === null ? await revokeShareAsTestPerson(services, db, found, requestId) : ok(null);
    return revoked.ok ? acknowledgeAsTester(services, tester, found.share.id, requestId) : revoked;
  }
  if (found.share.status !== "active") return refuse("share_inactive");
  if (type === "share.revoked") {
    const revoked = await revokeShareAsTestPerson(services, db, found, requestId);
    return revoked.ok ? ok(found.share.id) : revoked;
  }
  if (type === "share.renewed") return renewAsTestPerson(services, db, found, requestId);
  if (type === "share.expiring" || type === "share.expired")
    return advanceToShareMilestone(services, tester, found, type === "share.expired");
  return updateFieldsAsTestPerson(services, db, { id: found.share.id, businessId: business.id }, getFieldGroup(type), fields);
};

/**
 * Returns the share's newest event of this type after the cursor, or undefined if there is none. Reads every page, because moving the clock
 * can cause events for 10,000 shares.
 */
const findNewestEvent = async (
  services: SandboxWriteDependencies,
  tester: SandboxActor,
  { type, shareId, after }: { readonly type: EventType; readonly shareId: ShareId; readonly after: number },
): Promise<TriggeredEvent["event"] | undefined> => {
  let newest: TriggeredEvent["event"] | undefined;
  for (let cursor = after, hasMore = true; hasMore; ) {
    const page = await getEventFeed(services, tester, { cursor, limit: 500, types: [type] });
    newest = page.events.findLast((event) => event.shareId === shareId) ?? newest;
    ({ nextCursor: cursor, hasMore } = page);
  }
  return newest;
};

/**
 * Triggers the event, and returns the event and its share in the new state. Returns `invalid_request` if `shareId` or `fields` do not match
 * the type, `not_found` for a share outside this sandbox, the errors of the action itself, and `storage_unavailable` if the event is not in
 * the event sequence afterward.
 */
export const triggerEvent = async (
  services: SandboxWriteDependencies,
  tester: SandboxActor,
  request: TriggerRequest,
  requestId: string,
): Promise<Result<TriggeredEvent> | Refusal> => {
  if (request.type === "share.created" && request.shareId !== null)
    return refuse("invalid_request", "share_id: must be omitted for share.created, which creates a share.");
  if (request.fields !== null && !isFieldUpdate(request.type))
    return refuse("invalid_request", "fields: must be omitted unless the type is a consumer.updated type.");
  if (request.shareId === null && isFieldUpdate(request.type)) {
    // Checked before the new share is created, so that a refused request changes nothing.
    const persona = { scope: contactKeys, fields: getPersonaFields("default") };
    const decided = decideTestUpdate(services, persona, getFieldGroup(request.type), request.fields, services.clock());
    if (!decided.ok) return decided;
  }
  const { business } = tester;
  const db = services.shards.forId(business.id);
  if (request.shareId === null && shareDurationDays[request.type] !== undefined) {
    // Also checked before the new share is created. Its expiry warning or its end is due after one day.
    const { offsetMs } = await getSandboxClock(db, business.id);
    const decided = decideClockMove(offsetMs, { advanceSeconds: dayMs / secondMs }, services.clock());
    if (!decided.ok) return decided;
  }
  const sequence = services.eventSequence(business.id, "sandbox");
  await sequence.drain();
  const { head } = await sequence.listEvents(Number.MAX_SAFE_INTEGER, 1, null);
  const acted = await performTriggerAction(services, tester, request, requestId);
  if (!acted.ok) return acted;
  await sequence.drain();
  const event = await findNewestEvent(services, tester, { type: request.type, shareId: acted.value, after: head });
  const found = await findChangeableShare(db, acted.value, { businessId: business.id, environment: "sandbox" }, services.clock());
  return event === undefined || found === null ? refuse("storage_unavailable") : ok({ share: found.share, event });
};
