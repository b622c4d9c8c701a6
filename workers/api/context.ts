// What travels with a request through middlewares and handlers.
import type { RefusalCode } from "../../core/refusals.ts";
import type { Principal } from "../../core/access/principal.ts";
import type { MemberSession, Session } from "../../core/access/session.ts";
import type { Work } from "../operations/idempotency.ts";
import type { Services } from "../services.ts";

export interface Variables {
  requestId: string;
  services: Services;
  /** The caller's network address; see `callerAddress`. */
  ip: string;
  /** Headers gathered for the answer; see headers.ts. */
  headers: Record<string, string>;
  /** The answer that was made of them. */
  answer?: Response;
  /** The code of the refusal that was answered, for the log. */
  refused?: RefusalCode;
  /** Set by the API-key guard. */
  principal?: Principal;
  /** Set by the session guard. */
  session?: Session;
  /** Set by the portal guard: the session of a member whose business may be asked. */
  member?: MemberSession;
  /** Set while a request with an idempotency key is done for the first time. */
  work?: Work;
}

export interface Api {
  Variables: Variables;
}
