// Lists the businesses that will be notified when contact fields change. These are the businesses with an active share that contains a
// changed field. The person sees the list before saving the change.
import type { ContactKey } from "./fields.ts";
import type { Share } from "./share.ts";

export interface ChangeRecipients {
  /** Business names, newest share first. A business with several shares is listed once. */
  readonly notified: readonly string[];
  /** The businesses that received a changed field, but have no active share that contains it. */
  readonly notNotified: readonly string[];
}

const listBusinessNames = (shares: readonly Share[], except: ReadonlySet<string>): readonly string[] => [
  ...new Map(shares.filter(({ business }) => !except.has(business.id)).map(({ business }) => [business.id, business.name])).values(),
];

export const findChangeRecipients = (shares: readonly Share[], changed: readonly ContactKey[]): ChangeRecipients => {
  const affected = shares.filter(({ scope }) => changed.some((key) => scope.includes(key)));
  const active = affected.filter(({ status }) => status === "active");
  const ids = new Set(active.map(({ business }) => business.id as string));
  return { notified: listBusinessNames(active, new Set()), notNotified: listBusinessNames(affected, ids) };
};
