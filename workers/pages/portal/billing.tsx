// The plan, its state, and the way to pay: a link, because a form could not lead to the payment provider's page.
import type { Hono } from "hono";
import type { Api } from "../../http/context.ts";
import { openPayment } from "../../operations/billing/checkout.ts";
import { readAccount, type Account } from "../../operations/portal/profile.ts";
import type { Page } from "../layout.tsx";
import { foreignFormPage } from "../notices.tsx";
import { closedPage, portalPage, Status, type PortalView, type Tone } from "./parts.tsx";
import { answer, crowded, reading, type Fault, type Visit } from "./visit.ts";
import { Wrong } from "./parts.tsx";

const tones: Readonly<Record<Account["status"], Tone>> = {
  active: "good",
  past_due: "caution",
  suspended: "bad",
  pending: "plain",
  closed: "plain",
};

const pageOf = (view: PortalView, { plan, status }: Pick<Account, "plan" | "status">, isSold: boolean, fault?: Fault): Page => {
  const { words, member } = view;
  const { billing: said } = words;
  return portalPage(view, {
    tab: "billing",
    title: words.tabs.billing,
    fault,
    content: (
      <>
        <Wrong fault={fault} fields={[]} setting={view.setting} />
        <dl>
          <div>
            <dt>{said.plan}</dt>
            <dd>{said.plans[plan]}</dd>
          </div>
          <div>
            <dt>{words.state}</dt>
            <dd>
              <Status tone={tones[status]} text={said.states[status]} />
            </dd>
          </div>
        </dl>
        <p>{said.means[status]}</p>
        <p>{said.covers[plan]}</p>
        {!isSold ? (
          <p class="quiet">{said.notSold}</p>
        ) : member.role === "owner" ? (
          <p>
            <a class="button" href={view.at("/portal/billing/checkout")}>
              {plan === "free" && status === "active" ? said.buy : said.manage}
            </a>
          </p>
        ) : (
          <p class="quiet">{words.ownersOnly}</p>
        )}
      </>
    ),
  });
};

const shown = async (visit: Visit, fault?: Fault): Promise<Response> => {
  const { services, member, view } = visit;
  const { status } = member.business;
  if (status === "pending" || status === "closed") return answer(visit, closedPage(view), "business_inactive");
  const account = await readAccount(services, member);
  return answer(visit, pageOf(view, account, services.paymentProvider !== null, fault), fault?.code);
};

/** Nothing changes here, but a page of another site could lead somebody to pay who did not mean to. */
const checkout = async (visit: Visit): Promise<Response> => {
  const { c, services, member, view } = visit;
  if (c.req.header("sec-fetch-site")?.toLowerCase() === "cross-site") return foreignFormPage(c);
  const full = await crowded(c, "CHECKOUT", member.business.id);
  if (full !== null) return full;
  const opened = await openPayment(services, member, "business");
  if (opened.ok) return c.redirect(opened.value, 303);
  const { billing: said } = view.words;
  const text = opened.code === "billing_unavailable" ? said.away : opened.code === "owner_required" ? view.words.ownersOnly : said.notSold;
  return shown(visit, { code: opened.code, field: null, text });
};

export const mountBilling = (pages: Hono<Api>): void => {
  pages.get(
    "/billing",
    reading((visit) => shown(visit), true),
  );
  pages.get("/billing/checkout", reading(checkout, true));
};
