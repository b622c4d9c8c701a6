// Why a request was refused: somebody types the id that stood in its answer.
import type { Hono } from "hono";
import { refusals, type RefusalCode } from "../../../core/refusals.ts";
import { requestIdOf } from "../../../core/ids.ts";
import type { Api } from "../../http/context.ts";
import { findRefused, type RefusedRequest } from "../../operations/portal/refused-requests.ts";
import type { Page } from "../shared/layout.tsx";
import { Exact, Hash, Moment } from "../shared/parts.tsx";
import { Field, portalPage, Status, Wrong, type PortalView } from "./parts.tsx";
import { answer, reading, to, type Fault, type Visit } from "./visit.ts";

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

interface Looked {
  readonly id: string;
  readonly request: RefusedRequest | null;
}

const page = (view: PortalView, typed: string | null, looked: Looked | null, fault?: Fault): Page => {
  const { words, setting } = view;
  const { requests: said } = words;
  const remedy = looked?.request == null ? undefined : remedies[looked.request.code];
  return portalPage(view, {
    tab: "requests",
    title: words.tabs.requests,
    fault,
    content: (
      <>
        <p>{said.intro}</p>
        <form method="get" action={view.at("/portal/requests")} class="form">
          <Wrong fault={fault} fields={["id"]} setting={setting} />
          <Field name="id" label={said.id} hint={said.idHint} required value={typed} fault={fault} setting={setting} maxlength={60} />
          <button type="submit" class="primary">
            {said.find}
          </button>
        </form>
        {looked !== null && (
          <section aria-labelledby="request">
            <h2 id="request">{said.one}</h2>
            <p>
              <Hash value={looked.id} />
            </p>
            {looked.request === null ? (
              <p>{said.unknown}</p>
            ) : (
              <>
                <p>
                  <Status tone="bad" text={`${looked.request.status} ${looked.request.code}`} /> {refusals[looked.request.code]}
                </p>
                <dl>
                  <div>
                    <dt>{said.at}</dt>
                    <dd>
                      <Moment at={looked.request.at} setting={setting} />
                    </dd>
                  </div>
                  <div>
                    <dt>{said.route}</dt>
                    <dd>
                      <code>
                        {looked.request.method} {looked.request.route}
                      </code>
                    </dd>
                  </div>
                  {(
                    [
                      [said.from, looked.request.originHost],
                      [said.page, looked.request.pageHost],
                      [words.keys.clientId, looked.request.clientId],
                      [words.keys.key, looked.request.keyId],
                    ] as const
                  ).map(
                    ([name, value]) =>
                      value !== null && (
                        <div>
                          <dt>{name}</dt>
                          <dd>
                            <Exact text={value} />
                          </dd>
                        </div>
                      ),
                  )}
                </dl>
                {remedy !== undefined && (
                  <p>
                    <a class="button" href={view.at(`/portal/${remedy}`)}>
                      {said.remedies[remedy]}
                    </a>
                  </p>
                )}
              </>
            )}
          </section>
        )}
      </>
    ),
  });
};

const ask = (visit: Visit): Promise<Response> | Response => {
  const typed = visit.c.req.query("id")?.trim();
  if (typed === undefined || typed === "") return answer(visit, page(visit.view, null, null));
  const id = requestIdOf(typed.toLowerCase());
  if (id !== null) return to(visit, `/portal/requests/${id}`);
  const fault = { code: "invalid_request", field: "id", text: visit.view.words.requests.badId } as const;
  return answer(visit, page(visit.view, typed.slice(0, 60), null, fault), "invalid_request");
};

const show = async (visit: Visit): Promise<Response> => {
  const id = requestIdOf(visit.c.req.param("id") ?? "");
  if (id === null) return to(visit, "/portal/requests");
  const found = await findRefused(visit.services, visit.member, id);
  return answer(visit, page(visit.view, id, { id, request: found.ok ? found.value : null }), found.ok ? undefined : found.code);
};

export const mountRequests = (pages: Hono<Api>): void => {
  pages.get("/requests", reading(ask));
  pages.get("/requests/:id", reading(show));
};
