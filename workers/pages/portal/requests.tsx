// Why a request was refused: somebody types the id that stood in its answer.
import type { Hono } from "hono";
import type { Child, FC } from "hono/jsx";
import { refusals, type RefusalCode } from "../../../core/refusals.ts";
import { requestIdOf } from "../../../core/ids.ts";
import type { Api } from "../../http/context.ts";
import { findRefused, type RefusedRequest } from "../../operations/portal/refused-requests.ts";
import { Exact, Hash, Moment } from "../shared/parts.tsx";
import { Field, LinkLine, Properties, Section, Status, Submit, words, Wrong } from "./parts.tsx";
import { showPage } from "./page.tsx";
import { reading, to, type Fault, type Visit } from "./visit.ts";

const said = words.requests;

/** Where what a refusal speaks of is settled. */
const remedies: Readonly<Partial<Record<RefusalCode, "domains" | "billing" | "keys">>> = {
  origin_not_verified: "domains",
  page_url_not_verified: "domains",
  origin_mismatch: "domains",
  plan_required: "billing",
  subscription_past_due: "billing",
  business_suspended: "billing",
  forbidden: "keys",
  sandbox_only: "keys",
};

const Refused: FC<{ request: RefusedRequest }> = ({ request }) => {
  const { code, status, at, method, route } = request;
  const remedy = remedies[code];
  const named = [
    [said.from, request.originHost],
    [said.page, request.pageHost],
    [words.keys.clientId, request.clientId],
    [words.keys.key, request.keyId],
  ] as const;
  return (
    <>
      <p>
        <Status tone="bad" text={`${status} ${code}`} /> {refusals[code]}
      </p>
      <Properties
        lines={[
          [said.at, <Moment at={at} />],
          [said.route, <code>{`${method} ${route}`}</code>],
          ...named.map(([name, value]) => [name, value !== null && <Exact text={value} />] as const),
        ]}
      />
      {remedy !== undefined && <LinkLine class="button" to={`/portal/${remedy}`} text={said.remedies[remedy]} />}
    </>
  );
};

/** The form, and below it what was found of the last one asked for. */
const page = (visit: Visit, typed: string | null, more: { readonly fault?: Fault; readonly code?: RefusalCode; readonly found?: Child }) =>
  showPage(visit, {
    tab: "requests",
    fault: more.fault,
    code: more.code,
    content: (
      <>
        <p>{said.intro}</p>
        <form method="get" action={visit.at("/portal/requests")} class="form">
          <Wrong fields={["id"]} />
          <Field name="id" label={said.id} hint={said.idHint} required value={typed} maxlength={60} />
          <Submit label={said.find} />
        </form>
        {more.found}
      </>
    ),
  });

const ask = (visit: Visit): Promise<Response> | Response => {
  const typed = visit.c.req.query("id")?.trim() ?? "";
  if (typed === "") return page(visit, null, {});
  const id = requestIdOf(typed.toLowerCase());
  if (id !== null) return to(visit, `/portal/requests/${id}`);
  return page(visit, typed.slice(0, 60), { fault: { code: "invalid_request", field: "id", text: said.badId } });
};

const show = async (visit: Visit): Promise<Response> => {
  const id = requestIdOf(visit.c.req.param("id") ?? "");
  if (id === null) return to(visit, "/portal/requests");
  const looked = await findRefused(visit.services, visit.member, id);
  const found = (
    <Section id="request" title={said.one}>
      <p>
        <Hash value={id} />
      </p>
      {looked.ok ? <Refused request={looked.value} /> : <p>{said.unknown}</p>}
    </Section>
  );
  return page(visit, id, looked.ok ? { found } : { found, code: looked.code });
};

export const mountRequests = (pages: Hono<Api>): void => {
  pages.get("/requests", reading(ask));
  pages.get("/requests/:id", reading(show));
};
