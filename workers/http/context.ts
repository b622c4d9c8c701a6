// The Hono context variables. Each guard adds its results to the context type, so that later handlers can read them directly.
import type { Context } from "hono";
import type { Person, Principal } from "../../core/access/principal.ts";
import type { AnySession, ConsumerSession, MemberSession, Session } from "../../core/access/session.ts";
import type { Language } from "../../core/language.ts";
import type { RefusalCode } from "../../core/refusals.ts";
import type { ClaimedRequest } from "../operations/access/idempotency.ts";
import type { Services } from "../platform/platform.ts";

export interface RequestCaller {
  /** The ID of the API key, user or agent token. */
  readonly id: string;
  /** Null for a consumer. */
  readonly businessId: string | null;
  readonly kind: "api_key" | "session" | "agent_token";
}

export interface AppEnv {
  Variables: {
    requestId: string;
    services: Services;
    /** The caller's IP address, from Cloudflare's header (see workers/app.ts). */
    ip: string;
    /** Language for emails to the caller, from Accept-Language. */
    language: Language;
    /** The refusal code of the response. It is used for the log and to record refused requests. */
    refused?: RefusalCode;
    /** The parsed body. It is used to record refused requests. */
    requestBody?: unknown;
    caller?: RequestCaller;
    /** Set while a request with an idempotency key runs for the first time. */
    claimedRequest?: ClaimedRequest;
  };
}

export interface ApiKeyEnv {
  Variables: AppEnv["Variables"] & { principal: Principal };
}

/** The context after `anySessionGuard`, which also accepts people who were invited to a business but have not joined it. */
export interface AnySessionEnv {
  Variables: AppEnv["Variables"] & { session: AnySession };
}

export interface SessionEnv {
  Variables: AppEnv["Variables"] & { session: Session };
}

/** The context after the portal guard. The member belongs to a business whose status allows reading. */
export interface MemberEnv {
  Variables: AppEnv["Variables"] & { session: Session; member: MemberSession };
}

/** The context after the consumer guard. The person is signed in to their own account. */
export interface ConsumerEnv {
  Variables: AppEnv["Variables"] & { session: Session; consumer: ConsumerSession; person: Person };
}

/**
 * The members that all contexts above share. Functions accept this type, because Hono does not let one context type be assigned to another.
 */
export type RequestContext = Pick<Context<AppEnv>, "req" | "var" | "res" | "header" | "json"> & {
  readonly set: (name: "refused", code: RefusalCode) => void;
};
