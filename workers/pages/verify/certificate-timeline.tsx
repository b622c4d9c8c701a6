// What has happened to a certificate, in its order, and what is still to come.
import type { Child, FC } from "hono/jsx";
import type { PublishedAnchor } from "../../../core/certificates/published.ts";
import { receiptUrlOf } from "../../../core/certificates/views.ts";
import type { Instant } from "../../../core/time.ts";
import { isOverdue } from "../../../core/withdrawals/acknowledge.ts";
import type { CertificatePage } from "../../operations/certificates/page.ts";
import { Event, Exact, filled, Joined, numberText, Section, Sentence, useSetting, type EventKind, type Setting } from "../shared/parts.tsx";
import { actsOf, EntityReceipt } from "../withdrawal/parts.tsx";

/** One line of the timeline; `at` null is still to come. */
interface Happened {
  readonly at: Instant | null;
  readonly text: Child;
  /** Where it is neither done nor still to come: "counted" has its place, and no moment. */
  readonly kind?: EventKind;
  readonly bound?: string;
  readonly more?: Child;
}

const anchored = ({ status, anchoredAt, ledgerId }: PublishedAnchor, done: string, pending: string, note?: string): Happened => {
  const at = status === "anchored" ? anchoredAt : null;
  return {
    at,
    text: (
      <span>
        <Sentence text={at === null ? pending : done} parts={{ ledger: <Exact text={ledgerId} /> }} />
      </span>
    ),
    more: at === null && note !== undefined && <p class="quiet">{note}</p>,
  };
};

interface Shown {
  readonly page: CertificatePage;
  readonly apiBase: string;
  readonly now: Instant;
}

/** The withdrawal, its place in the ledger, the deadline and what the business has said. */
const withdrawnEvents = ({ page: { certificate }, apiBase, now }: Shown, { words }: Setting): Happened[] => {
  const { id, withdrawal } = certificate;
  if (withdrawal === null) return [];
  const { anchor, acknowledgedAt, ceaseBy, withdrawnAt } = withdrawal;
  const receipt = (
    <p class="quiet">
      <a href={receiptUrlOf(apiBase, id)} download={`withdrawal-${id}.json`}>
        {words.withdraw.receipt}
      </a>
    </p>
  );
  const by = withdrawal.method === "business_recorded" ? words.withdraw.recordedByBusiness : words.withdrawnByPerson;
  const told: Happened[] = [
    { at: withdrawnAt, text: by, more: receipt },
    { at: ceaseBy, text: words.withdraw.deadline, kind: "pending" },
  ];
  if (anchor !== null) told.push(anchored(anchor, words.withdraw.revocationAnchored, words.withdraw.revocationPending));
  if (acknowledgedAt !== null) told.push({ at: acknowledgedAt, text: words.withdraw.acknowledged });
  if (isOverdue(ceaseBy, acknowledgedAt, now)) told.push({ at: now, text: words.withdraw.overdue, kind: "counted" });
  return told;
};

/** Names in one line; those of strangers are set apart each. */
const ListedNames: FC<{ of: readonly { readonly entity: string }[] }> = ({ of }) => (
  <p class="quiet">
    <Joined of={of.map(({ entity }) => <Exact text={entity} />)} by=", " />
  </p>
);

/** Withdrawals from single recipients, while the certificate stood. */
const entityEvents = ({ page: { certificate }, apiBase, now }: Shown, { words, language }: Setting): Happened[] => {
  const acts = actsOf(certificate).map(({ number, withdrawnAt, method, entities }): Happened => {
    const by = method === "business_recorded" ? `${words.withdraw.recordedByBusiness}: ` : "";
    const from = entities.length === 1 ? words.withdraw.someEventOne : words.withdraw.someEvent;
    return {
      at: withdrawnAt,
      text: `${by}${filled(from, { count: numberText(entities.length, language) })}`,
      more: (
        <p class="quiet">
          <EntityReceipt id={certificate.id} number={number} apiBase={apiBase} />
        </p>
      ),
    };
  });
  // Recipients of which the business said so at one moment are one line.
  const ceased = Map.groupBy(certificate.entitiesWithdrawn, ({ acknowledgedAt }) => acknowledgedAt);
  const acknowledged = [...ceased].flatMap(([at, those]): Happened[] =>
    at === null ? [] : [{ at, text: words.withdraw.someAcknowledged, more: <ListedNames of={those} /> }],
  );
  const whole = certificate.withdrawal?.acknowledgedAt ?? null;
  const late = certificate.entitiesWithdrawn.filter(({ ceaseBy, acknowledgedAt }) => isOverdue(ceaseBy, acknowledgedAt ?? whole, now));
  const overdue: Happened = { at: now, text: words.withdraw.someOverdue, kind: "counted", more: <ListedNames of={late} /> };
  return [...acts, ...acknowledged, ...(late.length > 0 ? [overdue] : [])];
};

/** In the order of what happened; behind it what is still to come, said to be waiting, with what it is waiting for. */
export const Timeline: FC<Shown> = (shown) => {
  const setting = useSetting();
  const { words, language } = setting;
  const { certificate, loggedAt } = shown.page;
  const { anchor, subjectErasedAt, viewCount } = certificate;
  const all: Happened[] = [
    { at: certificate.issuedAt, text: words.issued, bound: "timestamp" },
    { at: loggedAt, text: loggedAt === null ? words.loggedPending : words.logged },
    ...(anchor === null ? [] : [anchored(anchor, words.anchored, words.anchoredPending, words.anchoredPendingNote)]),
    ...entityEvents(shown, setting),
    ...withdrawnEvents(shown, setting),
    ...(subjectErasedAt === null ? [] : [{ at: subjectErasedAt, text: words.erasedAt }]),
  ];
  const inOrder = all.sort((one, other) => (one.at ?? Number.MAX_VALUE) - (other.at ?? Number.MAX_VALUE));
  const opened = viewCount === 1 ? words.openedOnce : filled(words.openedTimes, { count: numberText(viewCount, language) });
  return (
    <Section name="timeline" heading={words.timeline}>
      <ol>
        {inOrder.map(({ at, text, kind = at === null ? "pending" : "done", bound, more }) => (
          <Event kind={kind} text={text} at={kind === "counted" ? null : at} bound={bound}>
            {more}
          </Event>
        ))}
        <Event kind="counted" text={viewCount === 0 ? words.openedNever : opened} at={null} />
      </ol>
    </Section>
  );
};
