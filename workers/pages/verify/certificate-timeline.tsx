// What has happened to a certificate, in its order, and what is still to come.
import type { Child, FC } from "hono/jsx";
import type { PublishedAnchor, PublishedCertificate } from "../../../core/certificates/published.ts";
import { receiptUrlOf } from "../../../core/certificates/views.ts";
import type { Instant } from "../../../core/time.ts";
import { isOverdue } from "../../../core/withdrawals/acknowledge.ts";
import type { CertificatePage } from "../../operations/certificates/page.ts";
import { Section } from "./certificate-parts.tsx";
import { Exact, filled, Moment, numberText, Sentence, Shape, type Setting } from "../shared/parts.tsx";
import { actsOf, EntityReceipt } from "../withdrawal/withdrawal-parts.tsx";

const eventShapes = { done: "tick", pending: "clock", counted: "dot" } as const;

const Event: FC<{ kind: keyof typeof eventShapes; children?: Child }> = ({ kind, children }) => (
  <li class={kind}>
    <Shape name={eventShapes[kind]} />
    <div>{children}</div>
  </li>
);

const openedText = (count: number, { words, language }: Setting): string => {
  if (count === 0) return words.openedNever;
  return count === 1 ? words.openedOnce : filled(words.openedTimes, { count: numberText(count, language) });
};

/** One line of the timeline; `at` null is still to come. */
interface Happened {
  readonly at: Instant | null;
  readonly line: Child;
}

const anchoredLine = (anchor: PublishedAnchor, [done, pending]: readonly [string, string], setting: Setting, note?: string): Happened => {
  const isAnchored = anchor.status === "anchored" && anchor.anchoredAt !== null;
  return {
    at: isAnchored ? anchor.anchoredAt : null,
    line: (
      <Event kind={isAnchored ? "done" : "pending"}>
        <span>
          <Sentence text={isAnchored ? done : pending} parts={{ ledger: <Exact text={anchor.ledgerId} /> }} />
        </span>
        {isAnchored && (
          <>
            {" "}
            <Moment at={anchor.anchoredAt ?? 0} setting={setting} />
          </>
        )}
        {!isAnchored && note !== undefined && <p class="quiet">{note}</p>}
      </Event>
    ),
  };
};

/** The withdrawal, its place in the ledger, the deadline and what the business has said. */
const withdrawnEvents = (
  { id, withdrawal }: PublishedCertificate,
  { setting, apiBase, now }: { readonly setting: Setting; readonly apiBase: string; readonly now: Instant },
): Happened[] => {
  if (withdrawal === null) return [];
  const { words } = setting;
  const { anchor, acknowledgedAt, ceaseBy, withdrawnAt } = withdrawal;
  const told: Happened[] = [
    {
      at: withdrawnAt,
      line: (
        <Event kind="done">
          {withdrawal.method === "business_recorded" ? words.withdraw.recordedByBusiness : words.withdrawnByPerson}{" "}
          <Moment at={withdrawnAt} setting={setting} />
          <p class="quiet">
            <a href={receiptUrlOf(apiBase, id)} download={`withdrawal-${id}.json`}>
              {words.withdraw.receipt}
            </a>
          </p>
        </Event>
      ),
    },
    {
      at: ceaseBy,
      line: (
        <Event kind="pending">
          {words.withdraw.deadline} <Moment at={ceaseBy} setting={setting} />
        </Event>
      ),
    },
  ];
  if (anchor !== null) told.push(anchoredLine(anchor, [words.withdraw.revocationAnchored, words.withdraw.revocationPending], setting));
  if (acknowledgedAt !== null) {
    told.push({
      at: acknowledgedAt,
      line: (
        <Event kind="done">
          {words.withdraw.acknowledged} <Moment at={acknowledgedAt} setting={setting} />
        </Event>
      ),
    });
  }
  if (isOverdue(ceaseBy, acknowledgedAt, now)) told.push({ at: now, line: <Event kind="counted">{words.withdraw.overdue}</Event> });
  return told;
};

/** Names in one line; those of strangers are set apart each. */
const listedNames = (recipients: readonly { readonly entity: string }[]): Child =>
  recipients.map(({ entity }, at) => (
    <>
      {at > 0 && ", "}
      <Exact text={entity} />
    </>
  ));

/** Withdrawals from single recipients, while the certificate stood. */
const entityEvents = (
  certificate: PublishedCertificate,
  { setting, apiBase, now }: { readonly setting: Setting; readonly apiBase: string; readonly now: Instant },
): Happened[] => {
  const { words } = setting;
  const acts = actsOf(certificate).map((act) => ({
    at: act[0]?.withdrawnAt ?? 0,
    line: (
      <Event kind="done">
        {act[0]?.method === "business_recorded" && <>{words.withdraw.recordedByBusiness}: </>}
        {filled(act.length === 1 ? setting.words.withdraw.someEventOne : setting.words.withdraw.someEvent, {
          count: numberText(act.length, setting.language),
        })}{" "}
        <Moment at={act[0]?.withdrawnAt ?? 0} setting={setting} />
        <p class="quiet">
          <EntityReceipt certificate={certificate} act={act} apiBase={apiBase} setting={setting} />
        </p>
      </Event>
    ),
  }));
  // Recipients of which the business said so at one moment are one line.
  const ceased = Map.groupBy(certificate.entitiesWithdrawn, ({ acknowledgedAt }) => acknowledgedAt);
  const acknowledged = [...ceased].flatMap(([at, those]): Happened[] =>
    at === null
      ? []
      : [
          {
            at,
            line: (
              <Event kind="done">
                {words.withdraw.someAcknowledged} <Moment at={at} setting={setting} />
                <p class="quiet">{listedNames(those)}</p>
              </Event>
            ),
          },
        ],
  );
  const whole = certificate.withdrawal?.acknowledgedAt ?? null;
  const late = certificate.entitiesWithdrawn.filter(({ ceaseBy, acknowledgedAt }) => isOverdue(ceaseBy, acknowledgedAt ?? whole, now));
  const overdue: Happened = {
    at: now,
    line: (
      <Event kind="counted">
        {words.withdraw.someOverdue}
        <p class="quiet">{listedNames(late)}</p>
      </Event>
    ),
  };
  return [...acts, ...acknowledged, ...(late.length > 0 ? [overdue] : [])];
};

/** In the order of what happened; behind it what is still to come, said to be waiting, with what it is waiting for. */
export const Timeline: FC<{ page: CertificatePage; setting: Setting; apiBase: string; now: Instant }> = ({
  page: { certificate, loggedAt },
  setting,
  apiBase,
  now,
}) => {
  const { words } = setting;
  const { anchor } = certificate;
  const all: readonly Happened[] = [
    {
      at: certificate.issuedAt,
      line: (
        <Event kind="done">
          {words.issued} <Moment at={certificate.issuedAt} bound="timestamp" setting={setting} />
        </Event>
      ),
    },
    {
      at: loggedAt,
      line:
        loggedAt === null ? (
          <Event kind="pending">{words.loggedPending}</Event>
        ) : (
          <Event kind="done">
            {words.logged} <Moment at={loggedAt} setting={setting} />
          </Event>
        ),
    },
    ...(anchor === null ? [] : [anchoredLine(anchor, [words.anchored, words.anchoredPending], setting, words.anchoredPendingNote)]),
    ...entityEvents(certificate, { setting, apiBase, now }),
    ...withdrawnEvents(certificate, { setting, apiBase, now }),
    ...(certificate.subjectErasedAt === null
      ? []
      : [
          {
            at: certificate.subjectErasedAt,
            line: (
              <Event kind="done">
                {words.erasedAt} <Moment at={certificate.subjectErasedAt} setting={setting} />
              </Event>
            ),
          },
        ]),
  ];
  const inOrder = all.toSorted((one, other) => (one.at ?? Number.MAX_VALUE) - (other.at ?? Number.MAX_VALUE));
  return (
    <Section name="timeline" heading={words.timeline}>
      <ol>
        {inOrder.map(({ line }) => line)}
        <Event kind="counted">{openedText(certificate.viewCount, setting)}</Event>
      </ol>
    </Section>
  );
};
