// Components for the app pages: forms, cards, tabs and the status of a share.
import type { Child, FC } from "hono/jsx";
import { getCeaseDeadline } from "../../../core/cease-deadline.ts";
import { getDaysUntilEnd } from "../../../core/shares/due-dates.ts";
import { groupsFromKeys, type ContactKey } from "../../../core/shares/fields.ts";
import type { Share } from "../../../core/shares/share.ts";
import { capitalize } from "../../../core/language.ts";
import { formatFieldGroups } from "../../../core/shares/labels.ts";
import type { Instant } from "../../../core/time.ts";
import { isOverdue } from "../../../core/withdrawals/cease-acknowledgment.ts";
import {
  formatDay,
  VerbatimText,
  formatMessage,
  Monogram,
  StatusBadge,
  usePageContext,
  type StatusBadgeProps,
  FormattedMessage,
} from "../shared/components.tsx";
import { createRequiredContext, TokenForm, type PostFormProps } from "../shared/signed-in-components.tsx";
import type { AppRequest } from "./app-request.ts";

const { Provider: AppRequestProvider, use: useAppRequest } = createRequiredContext<AppRequest>("app");
export { AppRequestProvider, useAppRequest };

/** A form with the token that `authenticatedAction` checks. */
export const PostForm: FC<PostFormProps> = (form) => <TokenForm {...form} formToken={useAppRequest().formToken} />;

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

/** Shows the deadline for ending contact that would apply if the person ended consent now. `text` contains the placeholder `{deadline}`. */
export const ContactDeadline: FC<{ text: string }> = ({ text }) => {
  const { messages, language, now } = useAppRequest();
  const date = formatDay(language, getCeaseDeadline(now));
  return <FormattedMessage text={text} parts={{ deadline: <strong>{formatMessage(messages.byEndOf, { date })}</strong> }} />;
};

const describeShareStatus = (share: Share, { messages: { status }, now }: AppRequest): StatusBadgeProps => {
  if (share.status === "active") {
    const days = getDaysUntilEnd(share, now);
    if (days === null) return { tone: "good", icon: "circle-check", text: status.active };
    const text = days === 0 ? status.endingToday : days === 1 ? status.endingOne : formatMessage(status.ending, { days: String(days) });
    return { tone: "caution", icon: "clock", text };
  }
  if (share.status === "revoked")
    return isOverdue(share.ceaseBy, share.acknowledgedAt, now)
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
  const view = useAppRequest();
  const { messages, language, now } = view;
  const { status, ceaseBy, acknowledgedAt, lastDeliveredAt } = share;
  const fact = (text: string, at: Instant): string => formatMessage(text, { date: formatDay(language, at) });
  const detail =
    status === "revoked" && ceaseBy !== null
      ? fact(isOverdue(ceaseBy, acknowledgedAt, now) ? messages.contactOverdue : messages.contactEnds, ceaseBy)
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

/** Lists a share's field groups with an initial capital letter, for example "Email, name, and phone". */
export const formatScope = ({ language }: AppRequest, scope: readonly ContactKey[]): string =>
  capitalize(language, formatFieldGroups(language, groupsFromKeys(scope)));
