// The Hono context variables. Each guard adds its results to the context type, so that handlers after the guard can read them directly.
import type { Context } from "hono";
import type { Person, Principal } from "../../core/access/principal.ts";
import type { AnySession, ConsumerSession, MemberSession, Session } from "../../core/access/session.ts";
import type { MailLanguage } from "../../core/mail/templates.ts";
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
    language: MailLanguage;
    /** The refusal code in the response, which is also logged. */
    refused?: RefusalCode;
    /** The parsed body. It is set once the body has been read and is valid JSON, and is used to record refused requests. */
    sent?: unknown;
    /** The authenticated caller, who is logged and owns the idempotency keys. */
    caller?: RequestCaller;
    /** Set while a request with an idempotency key runs for the first time. */
    work?: ClaimedRequest;
  };
}

/** The context after the API key guard. */
export interface ApiKeyEnv {
  Variables: AppEnv["Variables"] & { principal: Principal };
}

/** The request context after the guard that also accepts people who have been invited but have not joined yet. */
export interface AnySessionEnv {
  Variables: AppEnv["Variables"] & { session: AnySession };
}

/** The context after the session guard. */
export interface SessionEnv {
  Variables: AppEnv["Variables"] & { session: Session };
}

/** The context after the portal guard: a member of a business whose status allows reading. */
export interface MemberEnv {
  Variables: AppEnv["Variables"] & { session: Session; member: MemberSession };
}

/** The context after the consumer guard: a person signed in to their own account. */
export interface ConsumerEnv {
  Variables: AppEnv["Variables"] & { session: Session; consumer: ConsumerSession; person: Person };
}

/**
 * The parts of the context that all guards share. They have a separate type because Hono's context types for different guards are not
 * assignable to each other.
 */
export type RequestContext = Pick<Context<AppEnv>, "req" | "var" | "res" | "header" | "json"> & {
  readonly set: (name: "refused", code: RefusalCode) => void;
};
