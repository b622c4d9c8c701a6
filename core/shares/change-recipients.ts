// Who hears of a change of contact fields: every business with an active share that holds one of them. Said before the change is saved.
import type { ContactKey } from "./fields.ts";
import type { Share } from "./share.ts";

export interface ChangeRecipients {
  /** Names, each business once, newest share first. */
  readonly notified: readonly string[];
  /** Those that had one of the fields under a share that is over, and have it under no other. */
  readonly notNotified: readonly string[];
}

const listBusinessNames = (shares: readonly Share[], except: ReadonlySet<string>): readonly string[] => [
  ...new Map(shares.filter(({ business }) => !except.has(business.id)).map(({ business }) => [business.id, business.name])).values(),
];

export const findChangeRecipients = (shares: readonly Share[], changed: readonly ContactKey[]): ChangeRecipients => {
  const concerned = shares.filter(({ scope }) => changed.some((key) => scope.includes(key)));
  const active = concerned.filter(({ status }) => status === "active");
  const ids = new Set(active.map(({ business }) => business.id as string));
  return { notified: listBusinessNames(active, new Set()), notNotified: listBusinessNames(concerned, ids) };
};
