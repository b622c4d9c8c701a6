// What is due: certificates and shares that people withdrew, until somebody here says that contact has ended.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { certIdOf, shareIdOf, type CertId, type ShareId } from "../../../core/ids.ts";
import type { Instant } from "../../../core/time.ts";
import { isOverdue } from "../../../core/withdrawals/acknowledge.ts";
import type { Api } from "../../http/context.ts";
import { ownCertificate } from "../../operations/portal/certificates.ts";
import { listDeadlines, type Deadline } from "../../operations/portal/overview.ts";
import { acknowledgeStop } from "../../operations/shares/acknowledge.ts";
import { readShare } from "../../operations/shares/read.ts";
import { acknowledgeSingle, acknowledgeWithdrawal } from "../../operations/withdrawals/acknowledge.ts";
import { Exact, filled, Moment } from "../shared/parts.tsx";
import { Field, Link, List, number, personText, PostForm, Status, Submit, Table, Tick, useVisit, words, Wrong } from "./parts.tsx";
import { nothing, showPage } from "./page.tsx";
import { acting, reading, readerOf, to, type Fault, type Posted, type Visit } from "./visit.ts";

const said = words.deadlines;

const Due: FC<{ ceaseBy: Instant }> = ({ ceaseBy }) => (
  <>
    <Moment at={ceaseBy} /> {isOverdue(ceaseBy, null, useVisit().now) && <Status tone="bad" text={said.overdue} />}
  </>
);

const recordOf = ({ kind, id }: Pick<Deadline, "kind" | "id">): string =>
  kind === "share" ? `/portal/shares/${id}` : `/portal/certificates/${id}`;

const list = async (visit: Visit): Promise<Response> => {
  const { services, member, environment } = visit;
  const { deadlines, hasMore } = await listDeadlines(services, member, environment);
  return showPage(visit, {
    tab: "deadlines",
    content: (
      <>
        {hasMore && <p>{filled(said.more, { max: number(deadlines.length) })}</p>}
        <Table
          label={words.tabs.deadlines}
          rows={deadlines}
          empty={said.empty}
          columns={[
            [said.due, (row) => <Due ceaseBy={row.ceaseBy} />],
            [said.what, (row) => <Link to={recordOf(row)} text={said.kinds[row.kind]} />],
            [words.certificates.person, (row) => (row.person === null ? said.namedByShare : <Exact text={personText(row.person)} />)],
            [words.certificates.purpose, (row) => <Exact text={row.purpose} />],
            [said.withdrawn, (row) => <Moment at={row.withdrawnAt} />],
            [
              words.action,
              ({ id }) => (
                <Link class="button" to={`/portal/deadlines/${id}`} text={said.acknowledge} label={`${said.acknowledge}: ${id}`} />
              ),
            ],
          ]}
        />
      </>
    ),
  });
};

/** What somebody says contact has ended of. */
type Duty = {
  readonly ceaseBy: Instant;
  /** Null while nobody has said it. */
  readonly acknowledgedAt: Instant | null;
} & (
  | { readonly kind: "certificate"; readonly id: CertId }
  | { readonly kind: "recipients"; readonly id: CertId; readonly recipients: readonly string[] }
  | { readonly kind: "share"; readonly id: ShareId }
);

const dutyOf = async (visit: Visit): Promise<Duty | null> => {
  const { c, services, member, environment } = visit;
  const given = c.req.param("id") ?? "";
  const [certId, shareId] = [certIdOf(given), shareIdOf(given)];
  if (certId !== null) {
    const own = await ownCertificate(services, member, certId);
    if (!own.ok || own.value.environment !== environment) return null;
    const { withdrawal, entitiesWithdrawn } = own.value;
    if (withdrawal !== null) return { ...withdrawal, kind: "certificate", id: certId };
    const open = entitiesWithdrawn.filter((one) => one.acknowledgedAt === null);
    const [first] = open.length > 0 ? open.toSorted((a, b) => a.ceaseBy - b.ceaseBy) : entitiesWithdrawn.toReversed();
    return first === undefined ? null : { ...first, kind: "recipients", id: certId, recipients: open.map(({ entity }) => entity) };
  }
  if (shareId === null) return null;
  const found = await readShare(services, readerOf(visit), shareId);
  if (!found.ok || found.value.share.ceaseBy === null) return null;
  const { ceaseBy, acknowledgedAt } = found.value.share;
  return { kind: "share", id: shareId, ceaseBy, acknowledgedAt };
};

const maxNote = 500;
const maxName = 120;
const actions = ["removed", "told", "deleted"] as const;

const show = (visit: Visit, duty: Duty, fault?: Fault): Promise<Response> =>
  showPage(visit, {
    tab: "deadlines",
    title: said.acknowledgeTitle,
    fault,
    content: (
      <>
        <p>
          <Link to={recordOf(duty)} text={said.kinds[duty.kind]} /> <code>{duty.id}</code>
        </p>
        {duty.acknowledgedAt !== null ? (
          <p>
            {said.acknowledged} <Moment at={duty.acknowledgedAt} />.
          </p>
        ) : (
          <>
            <p>
              {said.due} <Due ceaseBy={duty.ceaseBy} />
            </p>
            {duty.kind === "recipients" && (
              <>
                <p>{said.only}</p>
                <List items={duty.recipients.map((name) => <Exact text={name} />)} />
              </>
            )}
            <p>{said.meaning}</p>
            <PostForm by="member" action={`/portal/deadlines/${duty.id}`}>
              <Wrong fields={["note", "acknowledged_by"]} />
              <fieldset>
                <legend>{said.done}</legend>
                {actions.map((action) => (
                  <p>
                    <Tick name={`action.${action}`} label={said.actions[action]} />
                  </p>
                ))}
              </fieldset>
              <Field name="acknowledged_by" label={said.by} />
              <Field name="note" label={said.note} hint={said.noteHint} rows={3} />
              <Submit label={said.acknowledge} />
            </PostForm>
          </>
        )}
      </>
    ),
  });

const ask = async (visit: Visit): Promise<Response> => {
  const duty = await dutyOf(visit);
  return duty === null ? nothing(visit) : show(visit, duty);
};

const acknowledge = async (visit: Posted): Promise<Response> => {
  const { c, services, member, form } = visit;
  const duty = await dutyOf(visit);
  if (duty === null) return nothing(visit);
  const note = (form.get("note") ?? "").trim();
  const by = (form.get("acknowledged_by") ?? "").trim();
  const tooLong = (field: string, max: number): Promise<Response> =>
    show(visit, duty, { code: "invalid_request", field, text: filled(words.tooLong, { max: String(max) }) });
  if (note.length > maxNote) return tooLong("note", maxNote);
  if (by.length > maxName) return tooLong("acknowledged_by", maxName);
  const details = {
    note: note || null,
    acknowledgedBy: by || null,
    actions: actions.filter((action) => form.has(`action.${action}`)).map((action) => said.actions[action]),
  };
  const reader = readerOf(visit);
  const actor = { kind: "member", id: member.userId } as const;
  const ceased =
    duty.kind === "share"
      ? await acknowledgeStop(services, reader, actor, duty.id, details, c.var.requestId)
      : duty.kind === "recipients" && duty.recipients.length > 0
        ? await acknowledgeSingle(services, reader, actor, duty.id, { ...details, entities: duty.recipients })
        : await acknowledgeWithdrawal(services, reader, actor, duty.id, details);
  if (ceased.ok) return to(visit, "/portal/deadlines", "acknowledged");
  if (ceased.code === "cease_not_open") return to(visit, `/portal/deadlines/${duty.id}`); // somebody else was first: the page says so
  return show(visit, duty, { code: ceased.code, field: null, text: words.again });
};

export const mountDeadlines = (pages: Hono<Api>): void => {
  pages.get("/deadlines", reading(list));
  pages.get("/deadlines/:id", reading(ask));
  pages.post("/deadlines/:id", acting({}, acknowledge));
};
