// The types of requests from members who are signed in to the portal. Separate from handlers.ts because components need them too.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { refusals, type RefusalCode } from "../../../core/refusals.ts";
import type { Refusal } from "../../../core/result.ts";
import type { Membership } from "../../../storage/members.ts";
import type { FormFields } from "../shared/form-handlers.ts";
import type { SignedInRequest } from "../shared/signed-in-handlers.ts";

export interface PortalRequest extends SignedInRequest {
  readonly member: MemberSession;
  /** The businesses that the member belongs to or is invited to, including the current one. Empty if the current one is the only one. */
  readonly memberships: readonly Membership[];
  /** The environment of the records on the page, taken from the page's path. */
  readonly environment: Environment;
  /** Returns the path of a portal page in the same environment. */
  readonly pathInMode: (path: string) => string;
  readonly form?: FormFields;
}

export interface PortalFormRequest extends PortalRequest {
  readonly form: FormFields;
}

/** Redirects to a page of the portal in the same environment. `done` selects the flash message that the page shows. */
export const redirectTo = ({ c, pathInMode }: PortalRequest, path: string, done?: string): Response => {
  const target = pathInMode(path);
  return c.redirect(done === undefined ? target : `${target}${target.includes("?") ? "&" : "?"}done=${done}`, 303);
};

/** Returns the member's business and the environment of the page. Operations read only records of this business and environment. */
export const toReader = ({ member, environment }: PortalRequest) => ({ business: member.business, environment });

export interface FormError {
  readonly code: RefusalCode;
  /** The name of the invalid field; null if the error is about the whole form. */
  readonly field: string | null;
  readonly text: string;
  /** The errors of other invalid fields, by their names. */
  readonly others?: Readonly<Record<string, string>>;
}

/**
 * Converts a refusal into a form error. A detail in the format `field: rule` is shown at that field. Any other detail applies to the whole
 * form. Without a detail, the error is the code's default message.
 */
export const toFormError = ({ code, detail }: Refusal): FormError => {
  const text = detail ?? refusals[code];
  const [, field, rule] = /^([a-z_]+): (.+)$/s.exec(text) ?? [];
  if (field === undefined || rule === undefined) return { code, field: null, text };
  return { code, field, text: `${rule.charAt(0).toUpperCase()}${rule.slice(1)}` };
};
