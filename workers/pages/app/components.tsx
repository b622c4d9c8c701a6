// Components for the app pages: forms, cards, tabs, lists of consequences and the status of a share.
import type { Child, FC } from "hono/jsx";
import { groupsFromKeys, type ContactKey } from "../../../core/shares/fields.ts";
import type { Share } from "../../../core/shares/share.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import { formatFieldGroups } from "../shared/share-options.ts";
import { accountMessages, type AccountMessages } from "../i18n/account.ts";
import type { AppMessages } from "../i18n/app.ts";
import type { IconName } from "../shared/icon-names.ts";
import type { Language } from "../shared/language.ts";
import {
  formatDay,
  VerbatimText,
  formatMessage,
  Icon,
  Monogram,
  StatusBadge,
  usePageContext,
  type StatusBadgeProps,
} from "../shared/components.tsx";
import { createRequiredContext, TokenForm, type PostFormProps } from "../shared/signed-in-components.tsx";
import type { SignedInRequest } from "../shared/signed-in-handlers.ts";

/** A message about what the person just did. It is shown once. */
export interface FlashMessage {
  readonly key: keyof AppMessages["flash"];
  readonly date?: Instant;
  readonly count?: number;
}

export interface AppView extends Pick<SignedInRequest, "email" | "now" | "formToken"> {
  readonly language: Language;
  readonly messages: AppMessages;
  readonly flash: FlashMessage | null;
}

const { Provider: AppViewProvider, use: useAppView } = createRequiredContext<AppView>("app");
export { AppViewProvider, useAppView };

export const getAccountMessages = ({ language }: AppView): AccountMessages => accountMessages[language];

/** A form for `authenticatedAction`. */
export const PostForm: FC<PostFormProps> = (form) => <TokenForm {...form} formToken={useAppView().formToken} />;

/** A button that submits the ID of one list item. `label` names the item for screen readers. */
export const ItemActionButton: FC<{ action: string; id: string; text: string; label: string }> = ({ action, id, text, label }) => (
  <PostForm action={action} hiddenValues={{ id }}>
    <button type="submit" class="btn sm" aria-label={label}>
      {text}
    </button>
  </PostForm>
);

interface TabLink {
  readonly path: string;
  readonly text: string;
  readonly count?: string;
  readonly isCurrent: boolean;
}

export const Tabs: FC<{ label: string; links: readonly TabLink[] }> = ({ label, links }) => (
  <nav class="tabs" aria-label={label}>
    {links.map(({ path, text, count, isCurrent }) => (
      <a href={path} aria-current={isCurrent ? "true" : undefined}>
        {text}
        {count !== undefined && (
          <>
            {" "}
            <span class="n">{count}</span>
          </>
        )}
      </a>
    ))}
  </nav>
);

export interface Consequence {
  readonly icon: IconName;
  readonly text: Child;
}

export const ConsequenceList: FC<{ of: readonly Consequence[] }> = ({ of }) => (
  <ul class="follows">
    {of.map(({ icon, text }) => (
      <li>
        <Icon name={icon} />
        <span>{text}</span>
      </li>
    ))}
  </ul>
);

export const BusinessLine: FC<{ name: string; children?: Child }> = ({ name, children }) => (
  <div class="row named">
    <Monogram name={name} />
    <p>
      <strong>
        <VerbatimText text={name} />
      </strong>
      {children !== undefined && <small>{children}</small>}
    </p>
  </div>
);

/** Joins the names of businesses into a list for a sentence. */
export const NameList: FC<{ names: readonly string[] }> = ({ names }) => (
  <>
    {new Intl.ListFormat(usePageContext().language, { type: "conjunction" })
      .formatToParts(names)
      .map(({ type, value }) => (type === "element" ? <VerbatimText text={value} /> : value))}
  </>
);

/** Shows a deadline with emphasis, for example "by the end of 4 December 2026 (UTC)". */
export const ByEndOf: FC<{ at: Instant }> = ({ at }) => {
  const { messages, language } = useAppView();
  return <strong>{formatMessage(messages.byEndOf, { date: formatDay(language, at) })}</strong>;
};

const endingSoonDays = 7; // the first reminder email is sent this many days before a share ends

/** Returns true if the deadline has passed and the business has not confirmed that contact has ended. */
export const isOverdue = ({ status, ceaseBy }: Share, now: Instant): boolean => status === "revoked" && ceaseBy !== null && now > ceaseBy;

export const isEndingSoon = ({ status, expiresAt }: Share, now: Instant): boolean =>
  status === "active" && expiresAt - now < (endingSoonDays + 1) * dayMs;

const describeShareStatus = (share: Share, { messages: { status }, now }: AppView): StatusBadgeProps => {
  if (share.status === "active") {
    if (!isEndingSoon(share, now)) return { tone: "good", icon: "circle-check", text: status.active };
    const days = Math.floor((share.expiresAt - now) / dayMs);
    const text = days === 0 ? status.endingToday : days === 1 ? status.endingOne : formatMessage(status.ending, { days: String(days) });
    return { tone: "caution", icon: "clock", text };
  }
  if (share.status === "revoked")
    return isOverdue(share, now)
      ? { tone: "bad", icon: "circle-alert", text: status.overdue }
      : { tone: "caution", icon: "clock-alert", text: status.stopped };
  if (share.status === "ceased") return { tone: "good", icon: "circle-check", text: status.ceased };
  return { tone: "plain", icon: "circle-minus", text: share.status === "superseded" ? status.superseded : status.expired };
};

/**
 * Shows the status of a share. For a stopped share, also shows the deadline for ending contact, or when contact ended. For an active share,
 * also shows the date of the last delivery.
 */
export const ShareStatus: FC<{ share: Share }> = ({ share }) => {
  const view = useAppView();
  const { messages, language, now } = view;
  const { status, ceaseBy, acknowledgedAt, lastDeliveredAt } = share;
  const fact = (text: string, at: Instant): string => formatMessage(text, { date: formatDay(language, at) });
  const detail =
    status === "revoked" && ceaseBy !== null
      ? fact(isOverdue(share, now) ? messages.contactOverdue : messages.contactEnds, ceaseBy)
      : status === "ceased" && acknowledgedAt !== null
        ? fact(messages.contactEnded, acknowledgedAt)
        : status === "active" && lastDeliveredAt != null
          ? fact(messages.lastDelivered, lastDeliveredAt)
          : null;
  return (
    <>
      <StatusBadge {...describeShareStatus(share, view)} />
      {detail !== null && <span class="small quiet">{detail}</span>}
    </>
  );
};

/** Lists field groups at the start of a line, for example "Email, name, and phone". */
export const formatScope = ({ language }: AppView, scope: readonly ContactKey[]): string => {
  const groups = formatFieldGroups(language, groupsFromKeys(scope));
  return groups.charAt(0).toLocaleUpperCase(language) + groups.slice(1);
};
