// What the people of a business may choose about an endpoint, and what their audit chain is told of it.
import type { MemberSession } from "../access/session.ts";
import { eventTypes, namedOnlyEventTypes } from "../events/event.ts";
import type { Fact, FactType } from "../facts.ts";
import { sha256Hex } from "../hash.ts";
import type { WebhookId } from "../ids.ts";
import { ok, refuse, type Result } from "../result.ts";
import { chosenLine } from "../text.ts";
import type { Instant } from "../time.ts";

export const maxDescriptionLength = 200;

/** Every type there is to choose from, as documented. */
export const choosableEventTypes = [...eventTypes, ...namedOnlyEventTypes] as const;

const knownTypes: ReadonlySet<string> = new Set(choosableEventTypes);

/** Sorted as documented, each once; null is every ordinary type, now and later. */
export const chosenEvents = (events: readonly string[] | null): Result<readonly string[] | null, "invalid_request"> => {
  if (events === null) return ok(null);
  if (events.length === 0) return refuse("invalid_request", "events: must name at least one type, or be left out for all.");
  if (events.some((type) => !knownTypes.has(type))) return refuse("invalid_request", "events: must be types of event that exist.");
  return ok(choosableEventTypes.filter((type) => events.includes(type)));
};

export const chosenDescription = (text: string | null) => chosenLine("description", text, maxDescriptionLength);

interface WebhookAct {
  readonly type: Extract<FactType, `webhook.${string}`>;
  readonly id: WebhookId;
  readonly member: MemberSession;
  readonly at: Instant;
  /** The address it was given. The chain keeps its hash. */
  readonly url?: string | undefined;
  /** Which of its members were changed. */
  readonly changed?: readonly string[];
}

export const webhookFact = ({ type, id, member, at, url, changed }: WebhookAct): Fact => ({
  type,
  entityType: "webhook",
  entityId: id,
  at,
  chains: [member.business.chain],
  actor: { kind: "member", id: member.userId },
  payload: {
    ...(changed !== undefined && { changed }),
    ...(url !== undefined && { url_hash: sha256Hex(url) }),
  },
});
