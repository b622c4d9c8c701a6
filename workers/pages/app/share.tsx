// One share: what they get, what has happened, how to check it; stopping it, in two steps; and renewing it.
import type { Child, FC } from "hono/jsx";
import { ceaseBy } from "../../../core/business-days.ts";
import type { FactType } from "../../../core/facts.ts";
import {
  groupsOf,
  inGroup,
  groupNames,
  fieldGroups,
  type ContactFields,
  type ContactKey,
  type FieldGroup,
  groupLine,
} from "../../../core/shares/fields.ts";
import type { Share } from "../../../core/shares/share.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import type { OwnShare } from "../../operations/shares/read.ts";
import type { Page } from "../shared/layout.tsx";
import { Exact, filled, Foreign, Hash, Moment, Shape } from "../shared/parts.tsx";
import { appPage, dayIn, Fault, faulty, groupsText, Naming, PostForm, Standing, titleOf, type AppView } from "./parts.tsx";
import type { AppWords } from "../shared/i18n/app.ts";

const Section: FC<{ name: string; heading: string; children?: Child }> = ({ name, heading, children }) => (
  <section class={name} aria-labelledby={`${name}-heading`}>
    <h2 id={`${name}-heading`}>{heading}</h2>
    {children}
  </section>
);

const Row: FC<{ name: string; children?: Child }> = ({ name, children }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

const eventShapes = { done: "tick", pending: "clock", counted: "dot", failed: "warning" } as const;

const Event: FC<{ kind: keyof typeof eventShapes; text: string; at: Instant; view: AppView; children?: Child }> = (event) => (
  <li class={event.kind}>
    <Shape name={eventShapes[event.kind]} />
    <div>
      <span>{event.text}</span> <Moment at={event.at} setting={event.view.setting} />
      {event.children}
    </div>
  </li>
);

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

const Timeline: FC<{ own: OwnShare; view: AppView }> = ({ own, view }) => {
  const { share, note, reason, contact } = own;
  const { words, setting } = view;
  const isOverdue = share.status === "revoked" && share.ceaseBy !== null && view.now > share.ceaseBy;
  return (
    <ol class="timeline">
      {tellings(own).map(({ at, name }) => (
        <Event kind="done" text={words.events[name]} at={at} view={view}>
          {name === "revoked" && reason !== null && (
            <p class="quiet">
              {words.yourReason} <Exact text={reason} />
            </p>
          )}
          {name === "ceased" && note !== null && (
            <p class="quiet">
              {words.theirNote} <Foreign text={note} setting={setting} />
            </p>
          )}
        </Event>
      ))}
      {share.status === "active" && <Event kind="pending" text={words.endsByItself} at={share.expiresAt} view={view} />}
      {share.status === "revoked" && share.ceaseBy !== null && (
        <Event kind={isOverdue ? "failed" : "pending"} text={words.deadline} at={share.ceaseBy} view={view}>
          {isOverdue && <p>{words.passed}</p>}
          {contact !== null && <p class="quiet">{filled(words.askThem, { contact })}</p>}
        </Event>
      )}
    </ol>
  );
};

const Values: FC<{ share: Share; fields: ContactFields; view: AppView }> = ({ share, fields, view }) => {
  const { words } = view;
  return (
    <dl>
      {groupsOf(share.scope).map((group) => {
        const line = groupLine(fields, share.scope, group);
        return (
          <Row name={words.groups[group]}>{line === null ? <span class="quiet">{words.emptyValue}</span> : <Exact text={line} />}</Row>
        );
      })}
    </dl>
  );
};

export const sharePage = (view: AppView, own: OwnShare, fields: ContactFields): Page => {
  const { words, setting } = view;
  const { share, disclosureText, anchor } = own;
  const isActive = share.status === "active";
  const path = `/app/shares/${share.id}`;
  return appPage(
    view,
    null,
    titleOf(words.shareTitle, share.business.name),
    <>
      <h1>
        <Naming text={words.shareTitle} name={share.business.name} />
      </h1>
      <p class="standing">
        <Standing share={share} view={view} />
        <span class="quiet">
          <Exact text={new URL(share.origin).host} />
          {isActive && <> · {filled(words.until, { date: dayIn(setting.language, share.expiresAt) })}</>}
        </span>
      </p>
      {isActive && (
        <p class="choices">
          <a class="button" href={`${path}/renew`}>
            {words.renew}
          </a>
          <a class="button" href={`${path}/stop`}>
            {words.stop}
          </a>
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
            <Values share={share} fields={fields} view={view} />
            <p class="quiet">{words.asOfNow}</p>
          </>
        ) : (
          <p>{groupsText(view, share.scope)}</p>
        )}
      </Section>
      <Section name="agreed" heading={words.purpose}>
        <p>
          <Foreign text={share.purpose} setting={setting} />
        </p>
        <h3>{words.theirWords}</h3>
        {disclosureText === "" ? (
          <p class="quiet">{words.noWords}</p>
        ) : (
          <blockquote>
            <Foreign text={disclosureText} setting={setting} />
          </blockquote>
        )}
      </Section>
      <Section name="past" heading={words.happened}>
        <Timeline own={own} view={view} />
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
          <Row name={words.inLog}>{anchor?.anchoredAt == null ? words.notInLog : <Moment at={anchor.anchoredAt} setting={setting} />}</Row>
        </dl>
      </details>
      <p>
        <a href="/app">{words.backToList}</a>
      </p>
    </>,
  );
};

/** What follows, before it is done. */
export const stopPage = (view: AppView, { share, contact }: OwnShare, typed = "", fault?: string): Page => {
  const { words, setting } = view;
  const path = `/app/shares/${share.id}`;
  return faulty(
    view,
    fault,
    appPage(
      view,
      null,
      titleOf(words.stopTitle, share.business.name),
      <>
        <h1>
          <Naming text={words.stopTitle} name={share.business.name} />
        </h1>
        <ul class="names">
          <li>{words.stopNothingMore}</li>
          <li>{filled(words.stopDeadline, { date: dayIn(setting.language, ceaseBy(view.now)) })}</li>
          <li>
            {words.stopKeeps}
            {contact !== null && (
              <>
                {" "}
                <Exact text={contact} />
              </>
            )}
          </li>
          <li>{words.stopDepend}</li>
          <li>{words.stopProof}</li>
        </ul>
        <PostForm view={view} action={`${path}/stop`}>
          <label for="reason">{words.stopWhy}</label>
          {fault !== undefined && <Fault view={view} text={fault} />}
          <input
            id="reason"
            name="reason"
            type="text"
            maxlength={200}
            autocomplete="off"
            value={typed}
            aria-describedby={fault === undefined ? undefined : "fault"}
            aria-invalid={fault === undefined ? undefined : "true"}
          />
          <div class="choices">
            <a class="button" href={path}>
              {words.keep}
            </a>
            <button type="submit" class="primary">
              {words.stop}
            </button>
          </div>
        </PostForm>
      </>,
    ),
  );
};

/** A group that a renewed share may hold: as it was shared, or with all of it that the person keeps. */
export interface Renewable {
  readonly group: FieldGroup;
  readonly keys: readonly ContactKey[];
  readonly isNew: boolean;
}

export const renewable = (share: Share, fields: ContactFields): readonly Renewable[] =>
  groupNames.flatMap((group) => {
    const old = inGroup(share.scope, group);
    const keys = old.length > 0 ? old : fieldGroups[group].filter((key) => fields[key] !== undefined);
    return keys.length === 0 ? [] : [{ group, keys, isNew: old.length === 0 }];
  });

export const shorterDays = [30, 90] as const;

export const renewPage = (view: AppView, own: OwnShare, fields: ContactFields, fault?: string): Page => {
  const { words, setting, now } = view;
  const { share, disclosureText } = own;
  const path = `/app/shares/${share.id}`;
  const ending = (days: number): { days: string; date: string } => ({
    days: String(days),
    date: dayIn(setting.language, now + days * dayMs),
  });
  return faulty(
    view,
    fault,
    appPage(
      view,
      null,
      titleOf(words.renewTitle, share.business.name),
      <>
        <h1>
          <Naming text={words.renewTitle} name={share.business.name} />
        </h1>
        <p>
          {words.renewIntro} {filled(words.oldUntil, { date: dayIn(setting.language, share.expiresAt) })}
        </p>
        <p>
          {words.forPurpose} <Foreign text={share.purpose} setting={setting} />
        </p>
        {disclosureText !== "" && (
          <figure>
            <figcaption class="quiet">{words.theirWords}</figcaption>
            <blockquote>
              <Foreign text={disclosureText} setting={setting} />
            </blockquote>
          </figure>
        )}
        <PostForm view={view} action={`${path}/renew`}>
          {fault !== undefined && <Fault view={view} text={fault} />}
          <fieldset class="boxes" aria-describedby={fault === undefined ? undefined : "fault"}>
            <legend>{words.renewScope}</legend>
            {renewable(share, fields).map(({ group, keys, isNew }) => (
              <p>
                <input type="checkbox" name={`group.${group}`} value="on" id={`group-${group}`} checked={!isNew && fault === undefined} />
                <label for={`group-${group}`}>
                  {words.groups[group]}: <Exact text={groupLine(fields, keys, group) ?? words.emptyValue} />{" "}
                  <span class="quiet">({isNew ? words.isNew : words.shared})</span>
                </label>
              </p>
            ))}
          </fieldset>
          <fieldset class="boxes">
            <legend>{words.renewUntil}</legend>
            {shorterDays
              .filter((days) => days < share.durationDays)
              .map((days) => (
                <p>
                  <input type="radio" name="days" value={String(days)} id={`days-${days}`} />
                  <label for={`days-${days}`}>{filled(words.shorter, ending(days))}</label>
                </p>
              ))}
            <p>
              <input type="radio" name="days" value="before" id="days-before" checked />
              <label for="days-before">{filled(words.asBefore, ending(share.durationDays))}</label>
            </p>
          </fieldset>
          <div class="choices">
            <a class="button" href={path}>
              {words.notNow}
            </a>
            <button type="submit" class="primary">
              {words.renew}
            </button>
          </div>
        </PostForm>
      </>,
    ),
  );
};
