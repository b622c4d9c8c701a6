// /app/shares/{id}: one share: what they get, what has happened, how to check it; stopping it, in two steps; and renewing it.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { ceaseBy } from "../../../core/business-days.ts";
import type { FactType } from "../../../core/facts.ts";
import { shareIdOf } from "../../../core/ids.ts";
import {
  contactKeys,
  fieldGroups,
  groupLine,
  groupNames,
  groupsOf,
  inGroup,
  type ContactFields,
  type ContactKey,
  type FieldGroup,
} from "../../../core/shares/fields.ts";
import type { Share } from "../../../core/shares/share.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import type { Api } from "../../http/context.ts";
import { readFields } from "../../operations/consumers/fields.ts";
import { readOwnShare, type OwnShare } from "../../operations/shares/read.ts";
import { renewShare } from "../../operations/shares/renew.ts";
import { revokeByPerson } from "../../operations/shares/revoke.ts";
import { shorterDays } from "../authorize/views.tsx";
import { Box, ButtonLink, Choices, TextField } from "../shared/forms.tsx";
import type { AppWords } from "../shared/i18n/app.ts";
import type { Page } from "../shared/layout.tsx";
import { outagePage } from "../shared/notices.tsx";
import { dayIn, Event, Exact, FieldFault, filled, Foreign, Hash, Moment, Points, Row, Section, TheirWords } from "../shared/parts.tsx";
import { appNotice, appPage, groupsText, PostForm, ShareStanding, useView, type AppView } from "./parts.tsx";
import { acting, answer, counted, flash, nothingHere, reading, refused, type Posted, type Visit } from "./signed-in.ts";

const told: Readonly<Partial<Record<FactType, keyof AppWords["events"]>>> = {
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
const tellings = ({ history, updateSentAt }: OwnShare): readonly { readonly at: Instant; readonly name: keyof AppWords["events"] }[] =>
  [
    ...history.flatMap(({ at, type }) => {
      const name = told[type];
      return name === undefined ? [] : [{ at, name }];
    }),
    ...(updateSentAt === null ? [] : [{ at: updateSentAt, name: "updated" as const }]),
  ].sort((a, b) => a.at - b.at);

const Timeline: FC<{ own: OwnShare }> = ({ own }) => {
  const { share, note, reason, contact } = own;
  const { words, now } = useView();
  const isOverdue = share.status === "revoked" && share.ceaseBy !== null && now > share.ceaseBy;
  return (
    <ol class="timeline">
      {tellings(own).map(({ at, name }) => (
        <Event kind="done" text={<span>{words.events[name]}</span>} at={at}>
          {name === "revoked" && reason !== null && (
            <p class="quiet">
              {words.youWrote} <Exact text={reason} />
            </p>
          )}
          {name === "ceased" && note !== null && (
            <p class="quiet">
              {words.theirNote} <Foreign text={note} />
            </p>
          )}
        </Event>
      ))}
      {share.status === "active" && <Event kind="pending" text={<span>{words.endsByItself}</span>} at={share.expiresAt} />}
      {share.status === "revoked" && share.ceaseBy !== null && (
        <Event kind={isOverdue ? "failed" : "pending"} text={<span>{words.deadline}</span>} at={share.ceaseBy}>
          {isOverdue && <p>{words.passed}</p>}
          {contact !== null && <p class="quiet">{filled(words.askThem, { contact })}</p>}
        </Event>
      )}
    </ol>
  );
};

const sharePage = (view: AppView, own: OwnShare, fields: ContactFields): Page => {
  const { words, language } = view;
  const { share, disclosureText, anchor } = own;
  const isActive = share.status === "active";
  const path = pathOf(share);
  return appPage(
    view,
    { title: words.shareTitle, business: share.business.name },
    <>
      <p class="standing">
        <ShareStanding share={share} />
        <span class="quiet">
          <Exact text={new URL(share.origin).host} />
          {isActive && <> · {filled(words.until, { date: dayIn(language, share.expiresAt) })}</>}
        </span>
      </p>
      {isActive && (
        <p class="choices">
          <ButtonLink href={`${path}/renew`}>{words.renew}</ButtonLink>
          <ButtonLink href={`${path}/stop`}>{words.stop}</ButtonLink>
        </p>
      )}
      {share.supersededBy !== null && (
        <p>
          {words.renewedBy} <a href={`/app/shares/${share.supersededBy}`}>{words.openNew}</a>
        </p>
      )}
      <Section name="values" heading={isActive ? words.whatTheyGet : words.whatTheyGot}>
        {isActive ? (
          <>
            <dl>
              {groupsOf(share.scope).map((group) => {
                const line = groupLine(fields, share.scope, group);
                const value = line === null ? <span class="quiet">{words.emptyValue}</span> : <Exact text={line} />;
                return <Row name={words.groups[group]}>{value}</Row>;
              })}
            </dl>
            <p class="quiet">{words.asOfNow}</p>
          </>
        ) : (
          <p>{groupsText(view, share.scope)}</p>
        )}
      </Section>
      <Section name="agreed" heading={words.purpose}>
        <p>
          <Foreign text={share.purpose} />
        </p>
        <h3>{words.theirWords}</h3>
        {disclosureText === "" ? (
          <p class="quiet">{words.noWords}</p>
        ) : (
          <blockquote>
            <Foreign text={disclosureText} />
          </blockquote>
        )}
      </Section>
      <Section name="past" heading={words.happened}>
        <Timeline own={own} />
        {share.supersedes !== null && (
          <p>
            {words.renewedFrom} <a href={`/app/shares/${share.supersedes}`}>{words.openOld}</a>
          </p>
        )}
      </Section>
      <details>
        <summary>{words.check}</summary>
        <dl>
          <Row name={words.number}>
            <code class="hash">{share.id}</code>
          </Row>
          <Row name={words.askedOn}>
            <Exact text={share.origin} />
          </Row>
          <Row name={words.fingerprint}>
            <Hash value={share.fingerprint} />
          </Row>
          <Row name={words.wordsHash}>
            <Hash value={share.disclosureHash} />
          </Row>
          <Row name={words.inLog}>{anchor?.anchoredAt == null ? words.notInLog : <Moment at={anchor.anchoredAt} />}</Row>
        </dl>
      </details>
      <p>
        <a href="/app">{words.backToList}</a>
      </p>
    </>,
  );
};

/** What follows, before it is done. */
const stopPage = (view: AppView, { share, contact }: OwnShare, typed = "", fault?: string): Page => {
  const { words, language } = view;
  const keeps = (
    <>
      {words.stopKeeps}
      {contact !== null && (
        <>
          {" "}
          <Exact text={contact} />
        </>
      )}
    </>
  );
  const deadline = filled(words.stopDeadline, { date: dayIn(language, ceaseBy(view.now)) });
  return appPage(
    view,
    { title: words.stopTitle, business: share.business.name, isFaulty: fault !== undefined },
    <>
      <Points of={[words.stopNothingMore, deadline, keeps, words.stopDepend, words.stopProof]} />
      <PostForm action={`${pathOf(share)}/stop`}>
        <TextField id="reason" label={words.stopWhy} fault={fault} maxlength={200} autocomplete="off" value={typed} />
        <Choices back={pathOf(share)} keep={words.keep} go={words.stop} />
      </PostForm>
    </>,
  );
};

/** A group that a renewed share may hold: as it was shared, or with all of it that the person keeps. */
interface Renewable {
  readonly group: FieldGroup;
  readonly keys: readonly ContactKey[];
  readonly isNew: boolean;
}

const renewable = (share: Share, fields: ContactFields): readonly Renewable[] =>
  groupNames.flatMap((group) => {
    const old = inGroup(share.scope, group);
    const keys = old.length > 0 ? old : fieldGroups[group].filter((key) => fields[key] !== undefined);
    return keys.length === 0 ? [] : [{ group, keys, isNew: old.length === 0 }];
  });

const renewPage = (view: AppView, own: OwnShare, fields: ContactFields, fault?: string): Page => {
  const { words, language, now } = view;
  const { share, disclosureText } = own;
  const ending = (days: number): { days: string; date: string } => ({ days: String(days), date: dayIn(language, now + days * dayMs) });
  return appPage(
    view,
    { title: words.renewTitle, business: share.business.name, isFaulty: fault !== undefined },
    <>
      <p>
        {words.renewIntro} {filled(words.oldUntil, { date: dayIn(language, share.expiresAt) })}
      </p>
      <p>
        {words.forPurpose} <Foreign text={share.purpose} />
      </p>
      <TheirWords lead={words.theirWords} text={disclosureText} />
      <PostForm action={`${pathOf(share)}/renew`}>
        {fault !== undefined && <FieldFault text={fault} />}
        <fieldset class="boxes" aria-describedby={fault === undefined ? undefined : "fault"}>
          <legend>{words.renewScope}</legend>
          {renewable(share, fields).map(({ group, keys, isNew }) => (
            <Box type="checkbox" name={`group.${group}`} value="on" id={`group-${group}`} checked={!isNew && fault === undefined}>
              {words.groups[group]}: <Exact text={groupLine(fields, keys, group) ?? words.emptyValue} />{" "}
              <span class="quiet">({isNew ? words.isNew : words.shared})</span>
            </Box>
          ))}
        </fieldset>
        <fieldset class="boxes">
          <legend>{words.renewUntil}</legend>
          {shorterDays
            .filter((days) => days < share.durationDays)
            .map((days) => (
              <Box type="radio" name="days" value={String(days)} id={`days-${days}`}>
                {filled(words.shorter, ending(days))}
              </Box>
            ))}
          <Box type="radio" name="days" value="before" id="days-before" checked>
            {filled(words.asBefore, ending(share.durationDays))}
          </Box>
        </fieldset>
        <Choices back={pathOf(share)} keep={words.notNow} go={words.renew} />
      </PostForm>
    </>,
  );
};

const pathOf = ({ id }: Pick<Share, "id">): string => `/app/shares/${id}`;

/** With the share that the address names; a page of its own where there is none of theirs. */
const withShare =
  <V extends Visit>(then: (visit: V, own: OwnShare, fields: ContactFields) => Promise<Response>) =>
  async (visit: V): Promise<Response> => {
    const { services, person, c, view } = visit;
    const [own, fields] = await Promise.all([
      readOwnShare(services, person, shareIdOf(c.req.param("id") ?? "")),
      readFields(services, person),
    ]);
    return own.ok
      ? then(visit, own.value, fields.ok ? fields.value : {})
      : nothingHere(visit, view.words.noShare, view.words.noShareAdvice);
  };

/** What is over cannot be stopped or renewed; its page says how it ended. */
const whileActive =
  <V extends Visit>(then: (visit: V, own: OwnShare, fields: ContactFields) => Promise<Response>) =>
  async (visit: V, own: OwnShare, fields: ContactFields): Promise<Response> =>
    own.share.status === "active" ? then(visit, own, fields) : visit.c.redirect(pathOf(own.share), 303);

const stop = async (visit: Posted, own: OwnShare): Promise<Response> => {
  const { c, services, person, view, form } = visit;
  const { share } = own;
  const reason = form.get("reason") ?? "";
  const revoked = await revokeByPerson(services, share.id, { person }, { reason, requestId: c.var.requestId });
  if (!revoked.ok) {
    if (revoked.code === "invalid_request")
      return refused(visit, revoked.code, stopPage(view, own, reason.slice(0, 300), view.words.badReason));
    return revoked.code === "storage_unavailable" ? outagePage(c) : c.redirect(pathOf(share), 303);
  }
  await flash(visit, { key: "stopped", date: revoked.value.ceaseBy });
  return c.redirect(pathOf(share), 303);
};

const renew = async (visit: Posted, own: OwnShare, fields: ContactFields): Promise<Response> => {
  const { c, services, person, view, form } = visit;
  const { share } = own;
  const ticked = renewable(share, fields).filter(({ group }) => form.has(`group.${group}`));
  const keys = new Set(ticked.flatMap(({ keys: of }) => of));
  if (keys.size === 0) return refused(visit, "invalid_request", renewPage(view, own, fields, view.words.tickOne));
  const crowded = await counted(visit, "GRANTS");
  if (crowded !== null) return crowded;
  const days = shorterDays.find((one) => String(one) === form.get("days"));
  const renewed = await renewShare(services, person, share.id, {
    scope: contactKeys.filter((key) => keys.has(key)),
    durationDays: days !== undefined && days < share.durationDays ? days : null,
    language: view.language,
    requestId: c.var.requestId,
  });
  if (renewed.ok) {
    await flash(visit, { key: "renewed", date: renewed.value.share.expiresAt });
    return c.redirect(pathOf(renewed.value.share), 303);
  }
  const { code } = renewed;
  if (code === "storage_unavailable") return outagePage(c);
  if (code === "business_inactive" || code === "business_suspended" || code === "subscription_past_due")
    return refused(visit, code, appNotice(view, view.words.mayNot, view.words.mayNotAdvice, share.business.name));
  return c.redirect(code === "invalid_request" ? `${pathOf(share)}/renew` : pathOf(share), 303); // over, or a value is gone: the page says so
};

export const mountShares = (pages: Hono<Api>): void => {
  pages.get("/shares", (c) => c.redirect("/app", 303)); // where assistants send people
  pages.get("/shares/:id", reading(withShare((visit, own, fields) => answer(visit, 200, sharePage(visit.view, own, fields)))));
  pages.get("/shares/:id/stop", reading(withShare(whileActive((visit, own) => answer(visit, 200, stopPage(visit.view, own))))));
  pages.post("/shares/:id/stop", acting(withShare(whileActive(stop))));
  pages.get(
    "/shares/:id/renew",
    reading(withShare(whileActive((visit, own, fields) => answer(visit, 200, renewPage(visit.view, own, fields))))),
  );
  pages.post("/shares/:id/renew", acting(withShare(whileActive(renew))));
};
