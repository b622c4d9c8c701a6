// What is due: certificates and shares that people withdrew, until somebody here says that contact has ended.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
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
import { VerbatimText, formatMessage, Timestamp } from "../shared/components.tsx";
import {
  Field,
  Link,
  PlainList,
  formatCount,
  formatMaskedPerson,
  PostForm,
  StatusLabel,
  SubmitButton,
  Table,
  CheckboxField,
  usePortalRequest,
  messages,
  FormErrorMessage,
} from "./components.tsx";
import { notFoundPage, renderMemberPage } from "./page.tsx";
import {
  authenticatedAction,
  authenticatedPage,
  toReader,
  redirectTo,
  type FormError,
  type PortalFormRequest,
  type PortalRequest,
} from "./portal-request.ts";

const deadlineMessages = messages.deadlines;

const DueTime: FC<{ ceaseBy: Instant }> = ({ ceaseBy }) => (
  <>
    <Timestamp at={ceaseBy} />{" "}
    {isOverdue(ceaseBy, null, usePortalRequest().now) && <StatusLabel tone="bad" text={deadlineMessages.overdue} />}
  </>
);

const recordPath = ({ kind, id }: Pick<Deadline, "kind" | "id">): string =>
  kind === "share" ? `/portal/shares/${id}` : `/portal/certificates/${id}`;

const renderDeadlineList = async (visit: PortalRequest): Promise<Response> => {
  const { services, member, environment } = visit;
  const { deadlines, hasMore } = await listDeadlines(services, member, environment);
  return renderMemberPage(visit, {
    tab: "deadlines",
    content: (
      <>
        {hasMore && <p>{formatMessage(deadlineMessages.more, { max: formatCount(deadlines.length) })}</p>}
        <Table
          label={messages.tabs.deadlines}
          rows={deadlines}
          emptyMessage={deadlineMessages.empty}
          columns={[
            [deadlineMessages.due, (row) => <DueTime ceaseBy={row.ceaseBy} />],
            [deadlineMessages.what, (row) => <Link to={recordPath(row)} text={deadlineMessages.kinds[row.kind]} />],
            [
              messages.certificates.person,
              (row) => (row.person === null ? deadlineMessages.namedByShare : <VerbatimText text={formatMaskedPerson(row.person)} />),
            ],
            [messages.certificates.purpose, (row) => <VerbatimText text={row.purpose} />],
            [deadlineMessages.withdrawn, (row) => <Timestamp at={row.withdrawnAt} />],
            [
              messages.action,
              ({ id }) => (
                <Link
                  class="button"
                  to={`/portal/deadlines/${id}`}
                  text={deadlineMessages.acknowledge}
                  label={`${deadlineMessages.acknowledge}: ${id}`}
                />
              ),
            ],
          ]}
        />
      </>
    ),
  });
};

/** What somebody says contact has ended of. */
type CeaseObligation = {
  readonly ceaseBy: Instant;
  /** Null while nobody has said it. */
  readonly acknowledgedAt: Instant | null;
} & (
  | { readonly kind: "certificate"; readonly id: CertId }
  | { readonly kind: "recipients"; readonly id: CertId; readonly recipients: readonly string[] }
  | { readonly kind: "share"; readonly id: ShareId }
);

const findCeaseObligation = async (visit: PortalRequest): Promise<CeaseObligation | null> => {
  const { c, services, member, environment } = visit;
  const given = c.req.param("id") ?? "";
  const [certId, shareId] = [parseCertId(given), parseShareId(given)];
  if (certId !== null) {
    const own = await getBusinessCertificate(services, member, certId);
    if (!own.ok || own.value.environment !== environment) return null;
    const { withdrawal, entitiesWithdrawn } = own.value;
    if (withdrawal !== null) return { ...withdrawal, kind: "certificate", id: certId };
    const open = entitiesWithdrawn.filter((one) => one.acknowledgedAt === null);
    const [first] = open.length > 0 ? open.toSorted((a, b) => a.ceaseBy - b.ceaseBy) : entitiesWithdrawn.toReversed();
    return first === undefined ? null : { ...first, kind: "recipients", id: certId, recipients: open.map(({ entity }) => entity) };
  }
  if (shareId === null) return null;
  const found = await getBusinessShare(services, toReader(visit), shareId);
  if (!found.ok || found.value.share.ceaseBy === null) return null;
  const { ceaseBy, acknowledgedAt } = found.value.share;
  return { kind: "share", id: shareId, ceaseBy, acknowledgedAt };
};

const maxNoteLength = 500;
const maxNameLength = 120;
const ceaseActions = ["removed", "told", "deleted"] as const;

const renderAcknowledgeForm = (visit: PortalRequest, duty: CeaseObligation, fault?: FormError): Promise<Response> =>
  renderMemberPage(visit, {
    tab: "deadlines",
    title: deadlineMessages.acknowledgeTitle,
    error: fault,
    content: (
      <>
        <p>
          <Link to={recordPath(duty)} text={deadlineMessages.kinds[duty.kind]} /> <code>{duty.id}</code>
        </p>
        {duty.acknowledgedAt !== null ? (
          <p>
            {deadlineMessages.acknowledged} <Timestamp at={duty.acknowledgedAt} />.
          </p>
        ) : (
          <>
            <p>
              {deadlineMessages.due} <DueTime ceaseBy={duty.ceaseBy} />
            </p>
            {duty.kind === "recipients" && (
              <>
                <p>{deadlineMessages.only}</p>
                <PlainList items={duty.recipients.map((name) => <VerbatimText text={name} />)} />
              </>
            )}
            <p>{deadlineMessages.meaning}</p>
            <PostForm requiredRole="member" action={`/portal/deadlines/${duty.id}`}>
              <FormErrorMessage fields={["note", "acknowledged_by"]} />
              <fieldset>
                <legend>{deadlineMessages.done}</legend>
                {ceaseActions.map((action) => (
                  <p>
                    <CheckboxField name={`action.${action}`} label={deadlineMessages.actions[action]} />
                  </p>
                ))}
              </fieldset>
              <Field name="acknowledged_by" label={deadlineMessages.by} />
              <Field name="note" label={deadlineMessages.note} hint={deadlineMessages.noteHint} rows={3} />
              <SubmitButton label={deadlineMessages.acknowledge} />
            </PostForm>
          </>
        )}
      </>
    ),
  });

const renderDeadline = async (visit: PortalRequest): Promise<Response> => {
  const duty = await findCeaseObligation(visit);
  return duty === null ? notFoundPage(visit) : renderAcknowledgeForm(visit, duty);
};

const handleAcknowledge = async (visit: PortalFormRequest): Promise<Response> => {
  const { c, services, member, form } = visit;
  const duty = await findCeaseObligation(visit);
  if (duty === null) return notFoundPage(visit);
  const note = (form.get("note") ?? "").trim();
  const by = (form.get("acknowledged_by") ?? "").trim();
  const tooLong = (field: string, max: number): Promise<Response> =>
    renderAcknowledgeForm(visit, duty, { code: "invalid_request", field, text: formatMessage(messages.tooLong, { max: String(max) }) });
  if (note.length > maxNoteLength) return tooLong("note", maxNoteLength);
  if (by.length > maxNameLength) return tooLong("acknowledged_by", maxNameLength);
  const details = {
    note: note || null,
    acknowledgedBy: by || null,
    actions: ceaseActions.filter((action) => form.has(`action.${action}`)).map((action) => deadlineMessages.actions[action]),
  };
  const reader = toReader(visit);
  const actor = { kind: "member", id: member.userId } as const;
  const ceased =
    duty.kind === "share"
      ? await acknowledgeShare(services, reader, actor, duty.id, details, c.var.requestId)
      : duty.kind === "recipients" && duty.recipients.length > 0
        ? await acknowledgeEntityWithdrawals(services, reader, actor, duty.id, { ...details, entities: duty.recipients })
        : await acknowledgeWithdrawal(services, reader, actor, duty.id, details);
  if (ceased.ok) return redirectTo(visit, "/portal/deadlines", "acknowledged");
  if (ceased.code === "cease_not_open") return redirectTo(visit, `/portal/deadlines/${duty.id}`); // somebody else was first: the page says so
  return renderAcknowledgeForm(visit, duty, { code: ceased.code, field: null, text: messages.again });
};

export const registerDeadlineRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/deadlines", authenticatedPage(renderDeadlineList));
  pages.get("/deadlines/:id", authenticatedPage(renderDeadline));
  pages.post("/deadlines/:id", authenticatedAction({}, handleAcknowledge));
};
