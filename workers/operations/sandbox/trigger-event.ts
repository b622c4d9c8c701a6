// POST /v1/sandbox/trigger: does in the sandbox what makes an event of the asked type, and answers with that event. Nothing is made up:
// the event is one like any other, with its share, its audit entries and its deliveries.
import { standardEventTypes, type EventType } from "../../../core/events/event.ts";
import type { ShareId } from "../../../core/ids.ts";
import { ok, refuse, type Refusal, type Result } from "../../../core/result.ts";
import { computeNextDueAt } from "../../../core/shares/due-dates.ts";
import type { ContactKey, FieldGroup } from "../../../core/shares/fields.ts";
import type { Share } from "../../../core/shares/share.ts";
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
import { updateFieldsAsTestPerson } from "./update-fields-as-test-person.ts";

export type TriggerableEventType = Exclude<(typeof standardEventTypes)[number], "certificate.revoked">;
/** Certificates are issued by forms and withdrawn by people: their events have a page to try. */
export const triggerableEventTypes = standardEventTypes.filter((type): type is TriggerableEventType => type !== "certificate.revoked");

export interface TriggerRequest {
  readonly type: TriggerableEventType;
  /** Null: a fresh share. */
  readonly shareId: ShareId | null;
  /** For an update: what the test person's fields become; null for some other value. */
  readonly fields: ReadonlyMap<ContactKey, string | null> | null;
}

export interface TriggeredEvent {
  readonly share: Share;
  readonly event: FeedPage["events"][number];
}

const shareDurationDays: Readonly<Partial<Record<EventType, number>>> = { "share.expiring": 2, "share.expired": 1 };
const maxSweeps = 11; // of a thousand each: as many as a sandbox may have, and once more to see that nothing is left

/** To the next mark of the share: what is due before it happens on the way. */
const advanceToShareMilestone = async (
  services: SandboxWriteDependencies,
  tester: SandboxActor,
  { share }: ChangeableShare,
  isEnd: boolean,
): Promise<Result<ShareId>> => {
  const db = services.shards.forId(tester.business.id);
  const now = services.clock() + share.clockOffsetMs;
  const mark = isEnd ? share.expiresAt : computeNextDueAt(share, now);
  if (!isEnd && mark === share.expiresAt) return refuse("invalid_request", "share_id: no warning of this share is left.");
  const moved = await advanceSandboxClock(services, tester, { to: mark });
  if (!moved.ok) return moved;
  let hasMore = moved.value.hasMore;
  for (let done = 1; hasMore && done < maxSweeps; done += 1) hasMore = (await sweepSandbox(services, db, tester.business.id)).hasMore;
  return ok(share.id);
};

const acknowledgeAsTester = async (
  services: SandboxWriteDependencies,
  tester: SandboxActor,
  id: ShareId,
  requestId: string,
): Promise<Result<ShareId>> => {
  const details = { note: null, acknowledgedBy: null, actions: [] };
  const ceased = await acknowledgeShare(services, tester, tester.actor, id, details, requestId);
  if (!ceased.ok) return ceased;
  return ceased.value.isRepeated ? refuse("cease_not_open") : ok(id);
};

/** The share that the event is then about. */
const performTriggerAction = async (
  services: SandboxWriteDependencies,
  tester: SandboxActor,
  { type, shareId, fields }: TriggerRequest,
  requestId: string,
): Promise<Result<ShareId>> => {
  const { business } = tester;
  const db = services.shards.forId(business.id);
  const fresh =
    shareId === null ? await shareAsTestPerson(services, tester, { durationDays: shareDurationDays[type] ?? 365, requestId }) : ok(shareId);
  if (!fresh.ok || type === "share.created") return fresh;
  const load = () => findChangeableShare(db, fresh.value, { businessId: business.id, environment: "sandbox" }, services.clock());
  const found = await load();
  if (found === null) return refuse("not_found");
  if (type === "business.ceased") {
    const stopped = shareId === null ? await revokeShareAsTestPerson(services, db, found, requestId) : ok(null);
    return stopped.ok ? acknowledgeAsTester(services, tester, found.share.id, requestId) : stopped;
  }
  if (found.share.status !== "active") return refuse("share_inactive");
  if (type === "share.revoked") {
    const stopped = await revokeShareAsTestPerson(services, db, found, requestId);
    return stopped.ok ? ok(found.share.id) : stopped;
  }
  if (type === "share.renewed") return renewAsTestPerson(services, db, found, requestId);
  if (type === "share.expiring" || type === "share.expired")
    return advanceToShareMilestone(services, tester, found, type === "share.expired");
  const group = type.slice("consumer.updated.".length) as FieldGroup;
  return updateFieldsAsTestPerson(services, db, { id: found.share.id, businessId: business.id }, group, fields);
};

const isFieldUpdate = (type: TriggerableEventType): boolean => type.startsWith("consumer.updated.");

/** Refuses what the act itself refuses, and a share that is none of this sandbox. */
export const triggerEvent = async (
  services: SandboxWriteDependencies,
  tester: SandboxActor,
  asked: TriggerRequest,
  requestId: string,
): Promise<Result<TriggeredEvent> | Refusal> => {
  if (asked.type === "share.created" && asked.shareId !== null)
    return refuse("invalid_request", "share_id: must be left out for share.created, which makes a share.");
  if (asked.fields !== null && !isFieldUpdate(asked.type))
    return refuse("invalid_request", "fields: only consumer.updated types take them.");
  const { business } = tester;
  const log = services.eventSequence(business.id, "sandbox");
  await log.drain();
  const { head } = await log.listEvents(Number.MAX_SAFE_INTEGER, 1, null);
  const acted = await performTriggerAction(services, tester, asked, requestId);
  if (!acted.ok) return acted;
  await log.drain();
  const page = await getEventFeed(services, tester, { cursor: head, limit: 500, types: [asked.type] });
  const event = page.events.findLast(({ shareId }) => shareId === acted.value);
  const db = services.shards.forId(business.id);
  const found = await findChangeableShare(db, acted.value, { businessId: business.id, environment: "sandbox" }, services.clock());
  return event === undefined || found === null ? refuse("storage_unavailable") : ok({ share: found.share, event });
};
