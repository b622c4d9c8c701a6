// The type of a request from a person who is signed in to the app, and the flash messages. Separate from handlers.ts because components
// need them too.
import { deleteCookie, setCookie } from "hono/cookie";
import type { Context } from "hono";
import type { Person } from "../../../core/access/principal.ts";
import type { ConsumerSession } from "../../../core/access/session.ts";
import { secondMs, type Instant } from "../../../core/time.ts";
import type { Json } from "../../../core/canonical-json.ts";
import type { AppEnv } from "../../http/context.ts";
import { findCookie, cookieOptions } from "../../http/cookies.ts";
import type { LimitName } from "../../limits.ts";
import { openNote, sealNote } from "../../operations/access/sealed-notes.ts";
import type { AppMessages } from "../i18n/app.ts";
import { checkAccountLimit, type FormRequest } from "../shared/form-handlers.ts";
import type { Language } from "../../../core/language.ts";
import type { SignedInRequest } from "../shared/signed-in-handlers.ts";

/** A message about what the person just did. It is shown once. */
interface FlashMessage {
  readonly key: keyof AppMessages["flash"];
  readonly date?: Instant;
  readonly count?: number;
}

export interface AppRequest extends SignedInRequest {
  readonly session: ConsumerSession;
  readonly person: Person;
  readonly language: Language;
  readonly messages: AppMessages;
  readonly flash: FlashMessage | null;
}

export type AppFormRequest = FormRequest<AppRequest>;

const flashCookie = "svc_flash";
const flashMs = 60 * secondMs;

/** Stores a message, sealed for this person, that the next page shows once. */
export const setFlash = async ({ c, services, person }: AppRequest, flash: FlashMessage): Promise<void> => {
  const sealed = await sealNote(services, { name: "flash", owner: person.id }, flash as unknown as { [key: string]: Json }, flashMs);
  setCookie(c, flashCookie, sealed, { ...cookieOptions(c), maxAge: flashMs / secondMs });
};

/** Stores the message that the next page shows after a person has ended all shares and consents for a business. */
export const setEndedFlash = (
  request: AppRequest,
  { count, isPending, date }: { readonly count: number; readonly isPending: boolean; readonly date: Instant },
): Promise<void> => {
  const key = isPending ? "endedPending" : count === 1 ? "endedOne" : "endedAll";
  return setFlash(request, { key, count, date });
};

export const takeFlash = async (c: Context<AppEnv>, owner: string): Promise<FlashMessage | null> => {
  const sealed = findCookie(c, flashCookie);
  if (sealed === undefined) return null;
  deleteCookie(c, flashCookie, cookieOptions(c));
  return (await openNote<FlashMessage>(c.var.services, { name: "flash", owner }, sealed))?.content ?? null;
};

/** Counts an action against the person's limit. Returns the error page if the limit is reached, otherwise null. */
export const checkPersonLimit = ({ c, person }: AppRequest, name: LimitName): Promise<Response | null> =>
  checkAccountLimit(c, name, person.id);
