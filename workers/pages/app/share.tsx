// /app/shares/{id}: one share: what they get, what has happened, how to check it; stopping it, in two steps; and renewing it.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { getCeaseDeadline } from "../../../core/cease-deadline.ts";
import type { DomainEventType } from "../../../core/domain-events.ts";
import { parseShareId } from "../../../core/ids.ts";
import {
  contactKeys,
  fieldGroups,
  formatFieldGroup,
  fieldGroupNames,
  groupsFromKeys,
  filterKeysInGroup,
  type ContactFields,
  type ContactKey,
  type FieldGroup,
} from "../../../core/shares/fields.ts";
import type { Share } from "../../../core/shares/share.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import type { AppEnv } from "../../http/context.ts";
import { getContactFields } from "../../operations/consumers/get-contact-fields.ts";
import { getOwnShare, type OwnShare } from "../../operations/shares/get-own-share.ts";
import { renewShare } from "../../operations/shares/renew-share.ts";
import { revokeShareByPerson } from "../../operations/shares/revoke-share-by-person.ts";
import { shorterDurationDays } from "../authorize/views.tsx";
import { ChoiceField, ButtonLink, ConfirmActions, TextField } from "../shared/form-fields.tsx";
import type { AppMessages } from "../i18n/app.ts";
import type { Page } from "../shared/layout.tsx";
import { renderStorageUnavailable } from "../shared/notice-pages.tsx";
import {
  formatDay,
  TimelineEntry,
  VerbatimText,
  FieldError,
  formatMessage,
  UntrustedText,
  Hash,
  Timestamp,
  BulletList,
  DescriptionRow,
  Section,
  BusinessQuote,
} from "../shared/components.tsx";
import { appNoticePage, appPage, formatScope, PostForm, ShareStatusLabel, useAppView, type AppView } from "./components.tsx";
import {
  authenticatedAction,
  renderAppPage,
  checkPersonLimit,
  setFlash,
  notFoundPage,
  authenticatedPage,
  renderRefusal,
  type AppFormRequest,
  type AppRequest,
} from "./app-request.ts";

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

/** What the entries tell, and the last change that the business was told of: each change is an entry of the details, not of a share. */
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

const ShareTimeline: FC<{ own: OwnShare }> = ({ own }) => {
  const { share, note, reason, contact } = own;
  const { messages, now } = useAppView();
  const isOverdue = share.status === "revoked" && share.ceaseBy !== null && now > share.ceaseBy;
  return (
    <ol class="timeline">
      {listTimelineEvents(own).map(({ at, name }) => (
        <TimelineEntry kind="done" text={<span>{messages.events[name]}</span>} at={at}>
          {name === "revoked" && reason !== null && (
            <p class="quiet">
              {messages.youWrote} <VerbatimText text={reason} />
            </p>
          )}
          {name === "ceased" && note !== null && (
            <p class="quiet">
              {messages.theirNote} <UntrustedText text={note} />
            </p>
          )}
        </TimelineEntry>
      ))}
      {share.status === "active" && <TimelineEntry kind="pending" text={<span>{messages.endsByItself}</span>} at={share.expiresAt} />}
      {share.status === "revoked" && share.ceaseBy !== null && (
        <TimelineEntry kind={isOverdue ? "failed" : "pending"} text={<span>{messages.deadline}</span>} at={share.ceaseBy}>
          {isOverdue && <p>{messages.passed}</p>}
          {contact !== null && <p class="quiet">{formatMessage(messages.askThem, { contact })}</p>}
        </TimelineEntry>
      )}
    </ol>
  );
};

const sharePage = (view: AppView, own: OwnShare, fields: ContactFields): Page => {
  const { messages, language } = view;
  const { share, disclosureText, anchor } = own;
  const isActive = share.status === "active";
  const path = sharePath(share);
  return appPage(
    view,
    { title: messages.shareTitle, business: share.business.name },
    <>
      <p class="standing">
        <ShareStatusLabel share={share} />
        <span class="quiet">
          <VerbatimText text={new URL(share.origin).host} />
          {isActive && <> · {formatMessage(messages.until, { date: formatDay(language, share.expiresAt) })}</>}
        </span>
      </p>
      {isActive && (
        <p class="choices">
          <ButtonLink href={`${path}/renew`}>{messages.renew}</ButtonLink>
          <ButtonLink href={`${path}/stop`}>{messages.stop}</ButtonLink>
        </p>
      )}
      {share.supersededBy !== null && (
        <p>
          {messages.renewedBy} <a href={`/app/shares/${share.supersededBy}`}>{messages.openNew}</a>
        </p>
      )}
      <Section name="values" heading={isActive ? messages.whatTheyGet : messages.whatTheyGot}>
        {isActive ? (
          <>
            <dl>
              {groupsFromKeys(share.scope).map((group) => {
                const line = formatFieldGroup(fields, share.scope, group);
                const value = line === null ? <span class="quiet">{messages.emptyValue}</span> : <VerbatimText text={line} />;
                return <DescriptionRow name={messages.groups[group]}>{value}</DescriptionRow>;
              })}
            </dl>
            <p class="quiet">{messages.asOfNow}</p>
          </>
        ) : (
          <p>{formatScope(view, share.scope)}</p>
        )}
      </Section>
      <Section name="agreed" heading={messages.purpose}>
        <p>
          <UntrustedText text={share.purpose} />
        </p>
        <h3>{messages.theirWords}</h3>
        {disclosureText === "" ? (
          <p class="quiet">{messages.noWords}</p>
        ) : (
          <blockquote>
            <UntrustedText text={disclosureText} />
          </blockquote>
        )}
      </Section>
      <Section name="past" heading={messages.happened}>
        <ShareTimeline own={own} />
        {share.supersedes !== null && (
          <p>
            {messages.renewedFrom} <a href={`/app/shares/${share.supersedes}`}>{messages.openOld}</a>
          </p>
        )}
      </Section>
      <details>
        <summary>{messages.check}</summary>
        <dl>
          <DescriptionRow name={messages.number}>
            <code class="hash">{share.id}</code>
          </DescriptionRow>
          <DescriptionRow name={messages.askedOn}>
            <VerbatimText text={share.origin} />
          </DescriptionRow>
          <DescriptionRow name={messages.fingerprint}>
            <Hash value={share.fingerprint} />
          </DescriptionRow>
          <DescriptionRow name={messages.wordsHash}>
            <Hash value={share.disclosureHash} />
          </DescriptionRow>
          <DescriptionRow name={messages.inLog}>
            {anchor?.anchoredAt == null ? messages.notInLog : <Timestamp at={anchor.anchoredAt} />}
          </DescriptionRow>
        </dl>
      </details>
      <p>
        <a href="/app">{messages.backToList}</a>
      </p>
    </>,
  );
};

/** What follows, before it is done. */
const revokeSharePage = (view: AppView, { share, contact }: OwnShare, typed = "", fault?: string): Page => {
  const { messages, language } = view;
  const keeps = (
    <>
      {messages.stopKeeps}
      {contact !== null && (
        <>
          {" "}
          <VerbatimText text={contact} />
        </>
      )}
    </>
  );
  const deadline = formatMessage(messages.stopDeadline, { date: formatDay(language, getCeaseDeadline(view.now)) });
  return appPage(
    view,
    { title: messages.stopTitle, business: share.business.name, isFaulty: fault !== undefined },
    <>
      <BulletList of={[messages.stopNothingMore, deadline, keeps, messages.stopDepend, messages.stopProof]} />
      <PostForm action={`${sharePath(share)}/stop`}>
        <TextField id="reason" label={messages.stopWhy} error={fault} maxlength={200} autocomplete="off" value={typed} />
        <ConfirmActions back={sharePath(share)} keep={messages.keep} go={messages.stop} />
      </PostForm>
    </>,
  );
};

/** A group that a renewed share may hold: as it was shared, or with all of it that the person keeps. */
interface RenewableGroup {
  readonly group: FieldGroup;
  readonly keys: readonly ContactKey[];
  readonly isNew: boolean;
}

const listRenewableGroups = (share: Share, fields: ContactFields): readonly RenewableGroup[] =>
  fieldGroupNames.flatMap((group) => {
    const old = filterKeysInGroup(share.scope, group);
    const keys = old.length > 0 ? old : fieldGroups[group].filter((key) => fields[key] !== undefined);
    return keys.length === 0 ? [] : [{ group, keys, isNew: old.length === 0 }];
  });

const renewSharePage = (view: AppView, own: OwnShare, fields: ContactFields, fault?: string): Page => {
  const { messages, language, now } = view;
  const { share, disclosureText } = own;
  const ending = (days: number): { days: string; date: string } => ({ days: String(days), date: formatDay(language, now + days * dayMs) });
  return appPage(
    view,
    { title: messages.renewTitle, business: share.business.name, isFaulty: fault !== undefined },
    <>
      <p>
        {messages.renewIntro} {formatMessage(messages.oldUntil, { date: formatDay(language, share.expiresAt) })}
      </p>
      <p>
        {messages.forPurpose} <UntrustedText text={share.purpose} />
      </p>
      <BusinessQuote lead={messages.theirWords} text={disclosureText} />
      <PostForm action={`${sharePath(share)}/renew`}>
        {fault !== undefined && <FieldError text={fault} />}
        <fieldset class="boxes" aria-describedby={fault === undefined ? undefined : "fault"}>
          <legend>{messages.renewScope}</legend>
          {listRenewableGroups(share, fields).map(({ group, keys, isNew }) => (
            <ChoiceField type="checkbox" name={`group.${group}`} value="on" id={`group-${group}`} checked={!isNew && fault === undefined}>
              {messages.groups[group]}: <VerbatimText text={formatFieldGroup(fields, keys, group) ?? messages.emptyValue} />{" "}
              <span class="quiet">({isNew ? messages.isNew : messages.shared})</span>
            </ChoiceField>
          ))}
        </fieldset>
        <fieldset class="boxes">
          <legend>{messages.renewUntil}</legend>
          {shorterDurationDays
            .filter((days) => days < share.durationDays)
            .map((days) => (
              <ChoiceField type="radio" name="days" value={String(days)} id={`days-${days}`}>
                {formatMessage(messages.shorter, ending(days))}
              </ChoiceField>
            ))}
          <ChoiceField type="radio" name="days" value="before" id="days-before" checked>
            {formatMessage(messages.asBefore, ending(share.durationDays))}
          </ChoiceField>
        </fieldset>
        <ConfirmActions back={sharePath(share)} keep={messages.notNow} go={messages.renew} />
      </PostForm>
    </>,
  );
};

const sharePath = ({ id }: Pick<Share, "id">): string => `/app/shares/${id}`;

/** With the share that the address names; a page of its own where there is none of theirs. */
const withShare =
  <V extends AppRequest>(then: (visit: V, own: OwnShare, fields: ContactFields) => Promise<Response>) =>
  async (visit: V): Promise<Response> => {
    const { services, person, c, view } = visit;
    const [own, fields] = await Promise.all([
      getOwnShare(services, person, parseShareId(c.req.param("id") ?? "")),
      getContactFields(services, person),
    ]);
    return own.ok
      ? then(visit, own.value, fields.ok ? fields.value : {})
      : notFoundPage(visit, view.messages.noShare, view.messages.noShareAdvice);
  };

/** What is over cannot be stopped or renewed; its page says how it ended. */
const requireActiveShare =
  <V extends AppRequest>(then: (visit: V, own: OwnShare, fields: ContactFields) => Promise<Response>) =>
  async (visit: V, own: OwnShare, fields: ContactFields): Promise<Response> =>
    own.share.status === "active" ? then(visit, own, fields) : visit.c.redirect(sharePath(own.share), 303);

const handleRevokeShare = async (visit: AppFormRequest, own: OwnShare): Promise<Response> => {
  const { c, services, person, view, form } = visit;
  const { share } = own;
  const reason = form.get("reason") ?? "";
  const revoked = await revokeShareByPerson(services, share.id, { person }, { reason, requestId: c.var.requestId });
  if (!revoked.ok) {
    if (revoked.code === "invalid_request")
      return renderRefusal(visit, revoked.code, revokeSharePage(view, own, reason.slice(0, 300), view.messages.badReason));
    return revoked.code === "storage_unavailable" ? renderStorageUnavailable(c) : c.redirect(sharePath(share), 303);
  }
  await setFlash(visit, { key: "stopped", date: revoked.value.ceaseBy });
  return c.redirect(sharePath(share), 303);
};

const handleRenewShare = async (visit: AppFormRequest, own: OwnShare, fields: ContactFields): Promise<Response> => {
  const { c, services, person, view, form } = visit;
  const { share } = own;
  const ticked = listRenewableGroups(share, fields).filter(({ group }) => form.has(`group.${group}`));
  const keys = new Set(ticked.flatMap(({ keys: of }) => of));
  if (keys.size === 0) return renderRefusal(visit, "invalid_request", renewSharePage(view, own, fields, view.messages.tickOne));
  const crowded = await checkPersonLimit(visit, "GRANTS");
  if (crowded !== null) return crowded;
  const days = shorterDurationDays.find((one) => String(one) === form.get("days"));
  const renewed = await renewShare(services, person, share.id, {
    scope: contactKeys.filter((key) => keys.has(key)),
    durationDays: days !== undefined && days < share.durationDays ? days : null,
    language: view.language,
    requestId: c.var.requestId,
  });
  if (renewed.ok) {
    await setFlash(visit, { key: "renewed", date: renewed.value.share.expiresAt });
    return c.redirect(sharePath(renewed.value.share), 303);
  }
  const { code } = renewed;
  if (code === "storage_unavailable") return renderStorageUnavailable(c);
  if (code === "business_inactive" || code === "business_suspended" || code === "subscription_past_due")
    return renderRefusal(visit, code, appNoticePage(view, view.messages.mayNot, view.messages.mayNotAdvice, share.business.name));
  return c.redirect(code === "invalid_request" ? `${sharePath(share)}/renew` : sharePath(share), 303); // over, or a value is gone: the page says so
};

export const registerShareRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/shares", (c) => c.redirect("/app", 303)); // where assistants send people
  pages.get(
    "/shares/:id",
    authenticatedPage(withShare((visit, own, fields) => renderAppPage(visit, 200, sharePage(visit.view, own, fields)))),
  );
  pages.get(
    "/shares/:id/stop",
    authenticatedPage(withShare(requireActiveShare((visit, own) => renderAppPage(visit, 200, revokeSharePage(visit.view, own))))),
  );
  pages.post("/shares/:id/stop", authenticatedAction(withShare(requireActiveShare(handleRevokeShare))));
  pages.get(
    "/shares/:id/renew",
    authenticatedPage(
      withShare(requireActiveShare((visit, own, fields) => renderAppPage(visit, 200, renewSharePage(visit.view, own, fields)))),
    ),
  );
  pages.post("/shares/:id/renew", authenticatedAction(withShare(requireActiveShare(handleRenewShare))));
};
