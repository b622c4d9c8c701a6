// Lists withdrawn certificates and revoked shares for which the business has not yet confirmed that contact has ended. Each entry links to
// a confirmation form.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { toCanonicalJson } from "../../../core/canonical-json.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { parseCertId, parseShareId, type CertId, type ShareId } from "../../../core/ids.ts";
import type { Instant } from "../../../core/time.ts";
import { isOverdue } from "../../../core/withdrawals/cease-acknowledgment.ts";
import type { AppEnv } from "../../http/context.ts";
import { getBusinessCertificate } from "../../operations/portal/get-business-certificate.ts";
import type { Deadline } from "../../../storage/deadlines.ts";
import { listDeadlines } from "../../operations/portal/list-deadlines.ts";
import { acknowledgeShare } from "../../operations/shares/acknowledge-share.ts";
import { getBusinessShare } from "../../operations/shares/get-business-share.ts";
import { acknowledgeEntityWithdrawals } from "../../operations/withdrawals/acknowledge-entity-withdrawals.ts";
import { acknowledgeWithdrawal } from "../../operations/withdrawals/acknowledge-withdrawal.ts";
import { EmptyCard, FormattedMessage, Notice, Timestamp, VerbatimText, formatDay, formatMessage } from "../shared/components.tsx";
import { Table } from "../shared/signed-in-components.tsx";
import {
  CheckboxField,
  Field,
  FormCard,
  FormErrorMessage,
  Link,
  PlainList,
  ShortId,
  StatusLabel,
  formatCount,
  formatShortDeadline,
  formatMaskedPerson,
  MaskedPersonName,
  formatShortDay,
  language,
  messages,
  usePortalRequest,
} from "./components.tsx";
import { notFoundPage, renderMemberPage } from "./page.tsx";
import { authenticatedAction, authenticatedPage } from "./handlers.ts";
import { toReader, redirectTo, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const deadlineMessages = messages.deadlines;

const DueLabel: FC<{ ceaseBy: Instant }> = ({ ceaseBy }) =>
  isOverdue(ceaseBy, null, usePortalRequest().now) ? (
    <StatusLabel tone="bad" icon="circle-alert" text={deadlineMessages.overdue} />
  ) : (
    <StatusLabel tone="caution" icon="clock-alert" text={deadlineMessages.open} />
  );

const recordPath = ({ kind, id }: Pick<Deadline, "kind" | "id">): string =>
  kind === "share" ? `/portal/shares/${id}` : `/portal/certificates/${id}`;

const DeadlineTable: FC<{ deadlines: readonly Deadline[] }> = ({ deadlines }) => (
  <Table
    label={messages.tabs.deadlines}
    rows={deadlines}
    columns={[
      [
        deadlineMessages.who,
        (row) => (
          <>
            <Link
              to={recordPath(row)}
              text={row.person === null ? deadlineMessages.kinds.share : <MaskedPersonName masked={row.person} />}
            />
            <small class="quiet">
              <ShortId id={row.id} />
            </small>
          </>
        ),
      ],
      [messages.state, (row) => <DueLabel ceaseBy={row.ceaseBy} />, "corner"],
      [
        deadlineMessages.due,
        (row) => (
          <>
            {formatShortDeadline(row.ceaseBy)}
            <small class="quiet">{formatMessage(deadlineMessages.withdrawnOn, { date: formatShortDay(row.withdrawnAt) })}</small>
          </>
        ),
      ],
      [
        deadlineMessages.what,
        (row) => (
          <>
            {deadlineMessages.kinds[row.kind]}
            <small class="quiet">
              <VerbatimText text={row.purpose} />
            </small>
          </>
        ),
      ],
      [
        messages.action,
        ({ id }) => (
          <Link
            class="btn sm"
            to={`/portal/deadlines/${id}`}
            text={deadlineMessages.acknowledge}
            label={`${deadlineMessages.acknowledge}: ${id}`}
          />
        ),
        "plain",
      ],
    ]}
  />
);

const renderDeadlineList = async (request: PortalRequest): Promise<Response> => {
  const { services, member, environment } = request;
  const { deadlines, hasMore } = await listDeadlines(services, member, environment);
  return renderMemberPage(request, {
    tab: "deadlines",
    intro: deadlineMessages.intro,
    content: (
      <>
        {deadlines.length === 0 ? (
          <EmptyCard icon="circle-check" title={deadlineMessages.emptyTitle} advice={deadlineMessages.empty} />
        ) : (
          <div class="card">
            <DeadlineTable deadlines={deadlines} />
            {hasMore && <p class="pager">{formatMessage(deadlineMessages.more, { max: formatCount(deadlines.length) })}</p>}
          </div>
        )}
        <p class="small quiet">
          <FormattedMessage
            text={deadlineMessages.confirmedLists}
            parts={{
              certificates: <Link to="/portal/certificates?status=revoked" text={deadlineMessages.confirmedCertificates} />,
              shares: <Link to="/portal/shares?status=ceased" text={deadlineMessages.confirmedShares} />,
              recipients: <Link to="/portal/audit?type=business.entities_ceased" text={deadlineMessages.confirmedRecipients} />,
            }}
          />
        </p>
      </>
    ),
  });
};

/** The record that an acknowledgment is for: a certificate, some of its recipients, or a share. */
type CeaseObligation = {
  readonly ceaseBy: Instant;
  readonly acknowledgedAt: Instant | null;
  /** Helps a member recognize the record: a masked detail of the person or, for a share, its purpose. Empty after an erasure. */
  readonly subject: string;
} & (
  | { readonly kind: "certificate"; readonly id: CertId }
  | { readonly kind: "recipients"; readonly id: CertId; readonly recipients: readonly string[] }
  | { readonly kind: "share"; readonly id: ShareId }
);

const findCeaseObligation = async (request: PortalRequest): Promise<CeaseObligation | null> => {
  const { c, services, member, environment } = request;
  const id = c.req.param("id") ?? "";
  const [certId, shareId] = [parseCertId(id), parseShareId(id)];
  if (certId !== null) {
    const found = await getBusinessCertificate(services, member, certId);
    if (!found.ok || found.value.environment !== environment) return null;
    const { withdrawal, entitiesWithdrawn, subjectMasked } = found.value;
    const subject = formatMaskedPerson(subjectMasked);
    if (withdrawal !== null) return { ...withdrawal, kind: "certificate", id: certId, subject };
    const open = entitiesWithdrawn.filter(({ acknowledgedAt }) => acknowledgedAt === null);
    const [first] = open.length > 0 ? open.toSorted((a, b) => a.ceaseBy - b.ceaseBy) : entitiesWithdrawn.toReversed();
    return first === undefined ? null : { ...first, kind: "recipients", id: certId, subject, recipients: open.map(({ entity }) => entity) };
  }
  if (shareId === null) return null;
  const found = await getBusinessShare(services, toReader(request), shareId);
  if (!found.ok || found.value.share.ceaseBy === null) return null;
  const { ceaseBy, acknowledgedAt, purpose } = found.value.share;
  return { kind: "share", id: shareId, ceaseBy, acknowledgedAt, subject: purpose };
};

/** Returns a hash of what a form asks to confirm. It changes if the person withdraws from more recipients or from the whole certificate. */
const hashObligation = (obligation: CeaseObligation): string =>
  sha256Hex(toCanonicalJson([obligation.kind, ...(obligation.kind === "recipients" ? obligation.recipients : [])]));

const maxNoteLength = 500;
const maxNameLength = 120;
const ceaseActions = ["removed", "told", "deleted"] as const;

const AcknowledgeForm: FC<{ obligation: CeaseObligation }> = ({ obligation }) => {
  const { now } = usePortalRequest();
  return (
    <FormCard
      id="acknowledge"
      title={formatMessage(
        isOverdue(obligation.ceaseBy, null, now) ? messages.certificates.notice.late : messages.certificates.contactEndsBy,
        {
          date: formatDay(language, obligation.ceaseBy),
        },
      )}
      note={deadlineMessages.meaning}
      action={`/portal/deadlines/${obligation.id}`}
      requiredRole="member"
      submitLabel={deadlineMessages.acknowledge}
      cancelPath="/portal/deadlines"
      isPrimary
    >
      <FormErrorMessage fields={["note", "acknowledged_by"]} />
      <input type="hidden" name="shown" value={hashObligation(obligation)} />
      {obligation.kind === "recipients" && (
        <div class="field">
          <p>{deadlineMessages.only}</p>
          <PlainList items={obligation.recipients.map((name) => <VerbatimText text={name} />)} />
        </div>
      )}
      <fieldset>
        <legend>
          {deadlineMessages.done} <span>{messages.optional}</span>
        </legend>
        {ceaseActions.map((action) => (
          <CheckboxField name={`action.${action}`} label={deadlineMessages.actions[action]} />
        ))}
      </fieldset>
      <Field name="acknowledged_by" label={deadlineMessages.by} isOptional />
      <Field
        name="note"
        label={deadlineMessages.note}
        hint={obligation.kind === "share" ? deadlineMessages.noteHintShare : deadlineMessages.noteHint}
        rows={3}
        isOptional
      />
    </FormCard>
  );
};

const renderAcknowledgeForm = (request: PortalRequest, obligation: CeaseObligation, error?: FormError): Promise<Response> =>
  renderMemberPage(request, {
    tab: "deadlines",
    title: deadlineMessages.acknowledgeTitle,
    parent: { path: "/portal/deadlines", text: messages.tabs.deadlines },
    crumb: <ShortId id={obligation.id} />,
    intro: (
      <>
        {obligation.subject !== "" && <VerbatimText text={obligation.subject} />}
        {obligation.subject !== "" && " · "}
        {deadlineMessages.kinds[obligation.kind]} <Link to={recordPath(obligation)} text={<ShortId id={obligation.id} />} />
      </>
    ),
    error,
    content:
      obligation.acknowledgedAt !== null ? (
        <Notice
          tone="good"
          icon="circle-check"
          title={<FormattedMessage text={deadlineMessages.confirmedOn} parts={{ time: <Timestamp at={obligation.acknowledgedAt} /> }} />}
        >
          <p>{deadlineMessages.confirmedMeaning}</p>
        </Notice>
      ) : (
        <div class="cols main">
          <AcknowledgeForm obligation={obligation} />
        </div>
      ),
  });

const renderDeadline = async (request: PortalRequest): Promise<Response> => {
  const obligation = await findCeaseObligation(request);
  return obligation === null ? notFoundPage(request) : renderAcknowledgeForm(request, obligation);
};

const handleAcknowledge = async (request: PortalFormRequest): Promise<Response> => {
  const { c, services, member, form } = request;
  const obligation = await findCeaseObligation(request);
  if (obligation === null) return notFoundPage(request);
  // An acknowledgment cannot be undone, so it covers only what the form showed.
  if (obligation.acknowledgedAt === null && form.get("shown") !== hashObligation(obligation))
    return renderAcknowledgeForm(request, obligation, { code: "cease_not_open", field: null, text: deadlineMessages.changed });
  const note = (form.get("note") ?? "").trim();
  const acknowledgedBy = (form.get("acknowledged_by") ?? "").trim();
  const renderTooLong = (field: string, max: number): Promise<Response> =>
    renderAcknowledgeForm(request, obligation, {
      code: "invalid_request",
      field,
      text: formatMessage(messages.tooLong, { max: String(max) }),
    });
  if (note.length > maxNoteLength) return renderTooLong("note", maxNoteLength);
  if (acknowledgedBy.length > maxNameLength) return renderTooLong("acknowledged_by", maxNameLength);
  const details = {
    note: note || null,
    acknowledgedBy: acknowledgedBy || null,
    actions: ceaseActions.filter((action) => form.has(`action.${action}`)).map((action) => deadlineMessages.actions[action]),
  };
  const reader = toReader(request);
  const actor = { kind: "member", id: member.userId } as const;
  const acknowledged =
    obligation.kind === "share"
      ? await acknowledgeShare(services, reader, actor, obligation.id, { ...details, requestId: c.var.requestId })
      : obligation.kind === "recipients" && obligation.recipients.length > 0
        ? await acknowledgeEntityWithdrawals(services, reader, actor, obligation.id, { ...details, entities: obligation.recipients })
        : await acknowledgeWithdrawal(services, reader, actor, obligation.id, details);
  if (acknowledged.ok) return redirectTo(request, "/portal/deadlines", "acknowledged");
  // Another member confirmed first, and the page after the redirect says so.
  if (acknowledged.code === "cease_not_open") return redirectTo(request, `/portal/deadlines/${obligation.id}`);
  return renderAcknowledgeForm(request, obligation, { code: acknowledged.code, field: null, text: messages.again });
};

export const registerDeadlineRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/deadlines", authenticatedPage(renderDeadlineList));
  pages.get("/deadlines/:id", authenticatedPage(renderDeadline));
  pages.post("/deadlines/:id", authenticatedAction({}, handleAcknowledge));
};
