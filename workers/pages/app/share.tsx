// Serves /app/shares/{id}: one share with its values, timeline and verification data, and the pages that renew or stop it.
import { cutText } from "../../../core/cut-text.ts";
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import type { DomainEventType } from "../../../core/domain-events.ts";
import { parseShareId } from "../../../core/ids.ts";
import {
  contactKeys,
  fieldGroups,
  formatFieldGroup,
  formatPhoneInFields,
  fieldGroupNames,
  groupsFromKeys,
  filterKeysInGroup,
  type ContactFields,
  type ContactKey,
  type FieldGroup,
} from "../../../core/shares/fields.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import { isOverdue } from "../../../core/withdrawals/cease-acknowledgment.ts";
import type { AppEnv } from "../../http/context.ts";
import { getContactFields } from "../../operations/consumers/get-contact-fields.ts";
import { getOwnShare, type OwnShare } from "../../operations/shares/get-own-share.ts";
import { renewShare } from "../../operations/shares/renew-share.ts";
import { revokeShareByPerson } from "../../operations/shares/revoke-share-by-person.ts";
import { formatDuration, shorterDurationDays } from "../shared/share-options.ts";
import { EnterButton } from "../shared/enter-button.tsx";
import { ChoiceField, OptionalLabel, TextField } from "../shared/form-fields.tsx";
import type { AppMessages } from "../i18n/app.ts";
import type { FormFields } from "../shared/form-handlers.ts";
import { renderStorageLimitReached, renderStorageUnavailable } from "../shared/notice-pages.tsx";
import {
  formatDay,
  TimelineEntry,
  type TimelineEntryKind,
  VerbatimText,
  FieldError,
  formatMessage,
  FormattedMessage,
  BusinessMessage,
  UntrustedText,
  Hash,
  Icon,
  Notice,
  PropertyList,
  Timestamp,
  BusinessQuote,
  Section,
} from "../shared/components.tsx";
import { checkPersonLimit, setFlash, type AppFormRequest, type AppRequest } from "./app-request.ts";
import { ContactDeadline, formatScope, ShareStatus, useAppRequest } from "./components.tsx";
import { authenticatedAction, authenticatedPage } from "./handlers.ts";
import { notFoundPage, renderAppPage, renderConfirmPage, renderRefusal } from "./page.tsx";

const timelineEventNames: Readonly<Partial<Record<DomainEventType, keyof AppMessages["events"]>>> = {
  "share.created": "created",
  "share.renewed": "renewed",
  "share.redeemed": "redeemed",
  "consumer.current_read": "read",
  "share.expiring": "expiring",
  "share.expired": "expired",
  "share.revoked": "revoked",
  "business.ceased": "ceased",
};

/**
 * Lists the share's audit entries and the last update sent to the business. The update is added separately, because the audit log records
 * only the change to the contact details that caused it.
 */
const listTimelineEvents = ({
  history,
  updateSentAt,
}: OwnShare): readonly { readonly at: Instant; readonly name: keyof AppMessages["events"] }[] =>
  [
    ...history.flatMap(({ at, type }) => {
      const name = timelineEventNames[type];
      return name === undefined ? [] : [{ at, name }];
    }),
    ...(updateSentAt === null ? [] : [{ at: updateSentAt, name: "updated" as const }]),
  ].sort((a, b) => a.at - b.at);

const timelineKinds: Readonly<Partial<Record<keyof AppMessages["events"], TimelineEntryKind>>> = { read: "counted", expiring: "counted" };

const ShareTimeline: FC<{ ownShare: OwnShare }> = ({ ownShare }) => {
  const { share, note, reason, contact } = ownShare;
  const { messages, now } = useAppRequest();
  const hasPassed = isOverdue(share.ceaseBy, share.acknowledgedAt, now);
  return (
    <ol class="timeline">
      {share.supersedes !== null && (
        <TimelineEntry kind="counted" text={messages.renewedFrom} at={null}>
          {" "}
          <a href={`/app/shares/${share.supersedes}`}>{messages.openOld}</a>
        </TimelineEntry>
      )}
      {listTimelineEvents(ownShare).map(({ at, name }) => (
        <TimelineEntry
          kind={timelineKinds[name] ?? "done"}
          text={timelineKinds[name] === undefined ? <strong>{messages.events[name]}</strong> : messages.events[name]}
          at={at}
        >
          {name === "revoked" && reason !== null && (
            <p class="small quiet">
              {messages.youWrote} <VerbatimText text={reason} />
            </p>
          )}
          {name === "ceased" && note !== null && (
            <p class="small quiet">
              {messages.theirNote} <UntrustedText text={note} />
            </p>
          )}
        </TimelineEntry>
      ))}
      {share.status === "active" && <TimelineEntry kind="pending" text={<strong>{messages.endsOnItsOwn}</strong>} at={share.expiresAt} />}
      {share.status === "revoked" && share.ceaseBy !== null && (
        <TimelineEntry kind={hasPassed ? "failed" : "pending"} text={<strong>{messages.deadline}</strong>} at={share.ceaseBy}>
          {hasPassed && <p>{messages.passed}</p>}
          {contact !== null && (
            <p class="small quiet">
              <FormattedMessage text={messages.askThem} parts={{ contact: <VerbatimText text={contact} /> }} />
            </p>
          )}
        </TimelineEntry>
      )}
    </ol>
  );
};

const SharedValues: FC<{ share: Share; fields: ContactFields }> = ({ share, fields }) => {
  const { messages } = useAppRequest();
  return (
    <PropertyList
      lines={groupsFromKeys(share.scope).map((group) => {
        const text = formatFieldGroup(fields, share.scope, group);
        const value = text === null ? <span class="quiet">{messages.emptyValue}</span> : <VerbatimText text={text} />;
        return [messages.groups[group], value];
      })}
    />
  );
};

const ShareProof: FC<{ ownShare: OwnShare }> = ({ ownShare: { share, anchor } }) => {
  const { messages } = useAppRequest();
  return (
    <details class="more">
      <summary>
        <Icon name="chevron-right" />
        {messages.check}
      </summary>
      <PropertyList
        isStacked
        lines={[
          [
            messages.number,
            <code class="hash" translate="no">
              {share.id}
            </code>,
          ],
          [messages.askedOn, <VerbatimText text={share.origin} />],
          [messages.fingerprint, <Hash value={share.fingerprint} />],
          [messages.wordsHash, <Hash value={share.disclosureHash} />],
          [
            messages.publicLog,
            anchor?.anchoredAt == null ? (
              messages.notInLog
            ) : (
              <FormattedMessage text={messages.inLog} parts={{ time: <Timestamp at={anchor.anchoredAt} /> }} />
            ),
          ],
        ]}
      />
    </details>
  );
};

const renderShare = (request: AppRequest, ownShare: OwnShare, fields: ContactFields): Promise<Response> => {
  const { messages, language } = request;
  const { share, disclosureText } = ownShare;
  const { name } = share.business;
  const isActive = share.status === "active";
  const path = sharePath(share);
  return renderAppPage(
    request,
    {
      tab: "consents",
      title: messages.shareTitle,
      business: name,
      heading: (
        <a class="plain" href={`/app/with/${share.business.id}`}>
          <VerbatimText text={name} />
        </a>
      ),
      hasMonogram: true,
      trail: {
        parents: [{ path: "/app", text: messages.tabs.consents }],
        current: <VerbatimText text={name} />,
      },
      status: (
        <>
          <ShareStatus share={share} />
          <span class="quiet">
            <FormattedMessage text={messages.sharedOn} parts={{ host: <VerbatimText text={new URL(share.origin).host} /> }} />
            {isActive && <> · {formatMessage(messages.until, { date: formatDay(language, share.expiresAt) })}</>}
          </span>
        </>
      ),
      actions: isActive ? (
        <>
          <a class="btn" href={`${path}/stop`}>
            <Icon name="hand" />
            {messages.stop}
          </a>
          <a class="btn bare" href={`${path}/renew`}>
            {messages.renew}
          </a>
        </>
      ) : undefined,
    },
    <>
      {share.supersededBy !== null && (
        <Notice icon="info" title={messages.renewedBy}>
          <a href={`/app/shares/${share.supersededBy}`}>{messages.openNew}</a>
        </Notice>
      )}
      <Section
        name="values"
        heading={isActive ? messages.whatTheyGet : messages.whatTheyGot}
        status={
          isActive && (
            <a class="link small" href="/app/details">
              {messages.editDetails}
            </a>
          )
        }
        footer={isActive ? messages.asOfNow : undefined}
      >
        {isActive ? <SharedValues share={share} fields={fields} /> : <p>{formatScope(request, share.scope)}</p>}
      </Section>
      <Section name="agreed" heading={messages.purpose}>
        <p>
          <UntrustedText text={share.purpose} />
        </p>
        {disclosureText === "" && <p class="small quiet">{messages.noWords}</p>}
        <BusinessQuote lead={messages.theirWords} text={disclosureText} />
      </Section>
      <Section name="past" heading={messages.happened} footer={<ShareProof ownShare={ownShare} />}>
        <ShareTimeline ownShare={ownShare} />
      </Section>
    </>,
  );
};

/** `typed` and `error` are set if the form was refused. */
const renderRevokeForm = (request: AppRequest, { share, contact }: OwnShare, typed = "", error?: string): Promise<Response> => {
  const { messages } = request;
  const { name } = share.business;
  const keeps =
    contact === null ? (
      messages.stopKeeps
    ) : (
      <FormattedMessage text={messages.stopKeepsAsk} parts={{ contact: <VerbatimText text={contact} /> }} />
    );
  return renderConfirmPage(
    request,
    {
      tab: "consents",
      title: messages.stopTitle,
      business: name,
      error,
      about: (
        <>
          {formatScope(request, share.scope)} · <UntrustedText text={share.purpose} />
        </>
      ),
      action: `${sharePath(share)}/stop`,
      consequences: [
        ["ban", messages.stopNothingMore],
        ["clock-alert", <ContactDeadline text={messages.stopDeadline} />],
        ["archive", keeps],
        ["info", messages.stopDepend],
        ["undo-2", messages.stopFinal],
      ],
      buttons: { back: sharePath(share), keep: messages.keep, go: messages.stop },
    },
    <TextField
      id="reason"
      label={<OptionalLabel text={messages.stopWhy} />}
      hint={<BusinessMessage text={messages.stopWhyHint} name={name} />}
      error={error}
      maxlength={200}
      autocomplete="off"
      value={typed}
    />,
  );
};

/**
 * A field group that the renewed share can contain. `keys` lists the fields shared before or, for a new group, the fields that the person
 * has filled in.
 */
interface RenewableGroup {
  readonly group: FieldGroup;
  readonly keys: readonly ContactKey[];
  readonly isNew: boolean;
}

const listRenewableGroups = (share: Share, fields: ContactFields): readonly RenewableGroup[] =>
  fieldGroupNames.flatMap((group) => {
    const sharedKeys = filterKeysInGroup(share.scope, group);
    const keys = sharedKeys.length > 0 ? sharedKeys : fieldGroups[group].filter((key) => fields[key] !== undefined);
    return keys.length === 0 ? [] : [{ group, keys, isNew: sharedKeys.length === 0 }];
  });

/**
 * Starts with no group selected, because a renewal is a new consent. The value of each checkbox lists the fields that the page shows.
 * `form` contains the posted values, which the page shows again.
 */
const renderRenewForm = (
  request: AppRequest,
  ownShare: OwnShare,
  fields: ContactFields,
  form?: FormFields,
  error?: string,
): Promise<Response> => {
  const { messages, language, now } = request;
  const { share, disclosureText } = ownShare;
  return renderConfirmPage(
    request,
    {
      tab: "consents",
      title: messages.renewTitle,
      business: share.business.name,
      error,
      about: (
        <>
          {messages.forPurpose} <UntrustedText text={share.purpose} />
        </>
      ),
      action: `${sharePath(share)}/renew`,
      consequences: [["refresh-cw", formatMessage(messages.renewIntro, { date: formatDay(language, share.expiresAt) })]],
      buttons: { back: sharePath(share), keep: messages.notNow, go: messages.renew },
    },
    <>
      <EnterButton name="check" />
      <BusinessQuote lead={messages.theirWords} text={disclosureText} />
      {error !== undefined && <FieldError text={error} />}
      <fieldset aria-describedby={error === undefined ? undefined : "fault"} aria-invalid={error === undefined ? undefined : "true"}>
        <legend>{messages.renewScope}</legend>
        {listRenewableGroups(share, fields).map(({ group, keys, isNew }) => (
          <ChoiceField
            type="checkbox"
            name={`group.${group}`}
            value={keys.join(" ")}
            id={`group-${group}`}
            checked={form?.has(`group.${group}`)}
          >
            {messages.groups[group]}
            {messages.colon} <VerbatimText text={formatFieldGroup(fields, keys, group) ?? messages.emptyValue} />{" "}
            <span class="quiet">({isNew ? messages.isNew : messages.isShared})</span>
          </ChoiceField>
        ))}
      </fieldset>
      <div class="field">
        <label for="days">{messages.renewUntil}</label>
        <select id="days" name="days">
          <option value="before">{formatDuration(language, now, share.durationDays)}</option>
          {shorterDurationDays
            .filter((days) => days < share.durationDays)
            .map((days) => (
              <option value={String(days)} selected={form?.get("days") === String(days)}>
                {formatDuration(language, now, days)}
              </option>
            ))}
        </select>
      </div>
    </>,
  );
};

const sharePath = ({ id }: Pick<Share, "id">): string => `/app/shares/${id}`;

/** Loads the share in the path and the person's details. Returns the not-found page unless the share belongs to this person. */
const withShare =
  <R extends AppRequest>(handle: (request: R, ownShare: OwnShare, fields: ContactFields) => Promise<Response>) =>
  async (request: R): Promise<Response> => {
    const { services, person, c } = request;
    const [found, fields] = await Promise.all([
      getOwnShare(services, person, parseShareId(c.req.param("id") ?? "")),
      getContactFields(services, person),
    ]);
    return found.ok
      ? handle(request, found.value, fields.ok ? formatPhoneInFields(fields.value, request.services.formatPhone) : {})
      : notFoundPage(request, request.messages.noShare, request.messages.noShareAdvice);
  };

/** If the share is no longer active, redirects to its page, which shows how it ended. */
const requireActiveShare =
  <R extends AppRequest>(handle: (request: R, ownShare: OwnShare, fields: ContactFields) => Promise<Response>) =>
  async (request: R, ownShare: OwnShare, fields: ContactFields): Promise<Response> =>
    ownShare.share.status === "active" ? handle(request, ownShare, fields) : request.c.redirect(sharePath(ownShare.share), 303);

const handleRevokeShare = async (request: AppFormRequest, ownShare: OwnShare): Promise<Response> => {
  const { c, services, person, form } = request;
  const { share } = ownShare;
  const reason = form.get("reason") ?? "";
  const revoked = await revokeShareByPerson(services, share.id, { person }, { reason, requestId: c.var.requestId });
  if (!revoked.ok) {
    if (revoked.code === "invalid_request") return renderRevokeForm(request, ownShare, cutText(reason, 300), request.messages.badReason);
    return revoked.code === "storage_unavailable" ? renderStorageUnavailable(c) : c.redirect(sharePath(share), 303);
  }
  await setFlash(request, { key: "stopped", date: revoked.value.ceaseBy });
  return c.redirect(sharePath(share), 303);
};

/**
 * Renews only if the button was clicked. The Enter key sends `check` (enter-button.tsx), and the form is then shown again. Shares only
 * fields that the form showed, even if others have been filled in since.
 */
const handleRenewShare = async (request: AppFormRequest, ownShare: OwnShare, fields: ContactFields): Promise<Response> => {
  const { c, services, person, form } = request;
  const { share } = ownShare;
  if (form.has("check")) return renderRenewForm(request, ownShare, fields, form);
  const selectedKeys = new Set(
    listRenewableGroups(share, fields).flatMap(({ group, keys }) => {
      const shown = new Set(form.get(`group.${group}`)?.split(" "));
      return keys.filter((key) => shown.has(key));
    }),
  );
  if (selectedKeys.size === 0) return renderRenewForm(request, ownShare, fields, form, request.messages.tickOne);
  const limitResponse = await checkPersonLimit(request, "GRANTS");
  if (limitResponse !== null) return limitResponse;
  const days = shorterDurationDays.find((option) => String(option) === form.get("days"));
  const renewed = await renewShare(services, person, share.id, {
    scope: contactKeys.filter((key) => selectedKeys.has(key)),
    durationDays: days !== undefined && days < share.durationDays ? days : null,
    language: request.language,
    requestId: c.var.requestId,
  });
  if (renewed.ok) {
    await setFlash(request, { key: "renewed", date: renewed.value.share.expiresAt });
    return c.redirect(sharePath(renewed.value.share), 303);
  }
  const { code } = renewed;
  if (code === "storage_unavailable") return renderStorageUnavailable(c);
  if (code === "rate_limited") return renderStorageLimitReached(c);
  if (code === "business_inactive" || code === "business_suspended" || code === "subscription_past_due")
    return renderRefusal(request, code, request.messages.unavailable, request.messages.unavailableAdvice, share.business.name);
  // If the share has ended or a value was deleted, the page after the redirect says so.
  return c.redirect(code === "invalid_request" ? `${sharePath(share)}/renew` : sharePath(share), 303);
};

export const registerShareRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/shares", (c) => c.redirect("/app", 303)); // agents give people this link
  pages.get("/shares/:id", authenticatedPage(withShare(renderShare)));
  pages.get(
    "/shares/:id/stop",
    authenticatedPage(withShare(requireActiveShare((request, ownShare) => renderRevokeForm(request, ownShare)))),
  );
  pages.post("/shares/:id/stop", authenticatedAction(withShare(requireActiveShare(handleRevokeShare))));
  pages.get("/shares/:id/renew", authenticatedPage(withShare(requireActiveShare(renderRenewForm))));
  pages.post("/shares/:id/renew", authenticatedAction(withShare(requireActiveShare(handleRenewShare))));
};
