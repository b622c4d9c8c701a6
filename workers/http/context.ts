// What travels with a request through middlewares and handlers. A guard adds what it found out to the type of its route's
// context, so a handler behind it has it without asking.
import type { Context } from "hono";
import type { Person, Principal } from "../../core/access/principal.ts";
import type { ConsumerSession, MemberSession, Session } from "../../core/access/session.ts";
import type { MailLanguage } from "../../core/mail/templates.ts";
import type { RefusalCode } from "../../core/refusals.ts";
import type { ClaimedRequest } from "../operations/access/idempotency.ts";
import type { Services } from "../services.ts";

export interface RequestCaller {
  /** Of the key, the person or the agent's token. */
  readonly id: string;
  /** Null for a consumer. */
  readonly businessId: string | null;
  readonly kind: "api_key" | "session" | "agent_token";
}

export interface AppEnv {
  Variables: {
    requestId: string;
    services: Services;
    /** The caller's network address; see `callerAddress`. */
    ip: string;
    /** Of mails to whoever asks: what their browser wants. */
    language: MailLanguage;
    /** The code of the refusal that was answered, for the log. */
    refused?: RefusalCode;
    /** The body, once it was read within its limit and is JSON: what a refusal may be looked up by. */
    sent?: unknown;
    /** Who called, where a guard found out: for the log, and for idempotency keys. */
    caller?: RequestCaller;
    /** Set while a request with an idempotency key is done for the first time. */
    work?: ClaimedRequest;
  };
}

/** Behind the API-key guard. */
export interface ApiKeyEnv {
  Variables: AppEnv["Variables"] & { principal: Principal };
}

/** Behind the session guard. */
export interface SessionEnv {
  Variables: AppEnv["Variables"] & { session: Session };
}

/** Behind the portal guard: a member whose business may be asked. */
export interface MemberEnv {
  Variables: AppEnv["Variables"] & { session: Session; member: MemberSession };
}

/** Behind the consumer guard: a person with an account, who acts for themselves. */
export interface ConsumerEnv {
  Variables: AppEnv["Variables"] & { session: Session; consumer: ConsumerSession; person: Person };
}

/** What an answer needs of a request, whoever its route lets in: hono's contexts of different guards are no kinds of each other. */
export type RequestContext = Pick<Context<AppEnv>, "req" | "var" | "res" | "header" | "json"> & {
  readonly set: (name: "refused", code: RefusalCode) => void;
};
