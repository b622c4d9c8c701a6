// The plan, its state, and the way to pay: a link, because a form could not lead to the payment provider's page.
import type { Hono } from "hono";
import type { Api } from "../../http/context.ts";
import { openPayment, payable } from "../../operations/billing/checkout.ts";
import { readAccount, readUsage, type Account } from "../../operations/portal/profile.ts";
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

type Used = Awaited<ReturnType<typeof readUsage>>;

const usageOf = ({ words: { billing: said }, setting }: PortalView, { since, issued, withdrawn }: Used) => {
  const month = new Intl.DateTimeFormat(setting.language, { month: "long", year: "numeric", timeZone: "UTC" }).format(since);
  const count = new Intl.NumberFormat(setting.language);
  return (
    <section>
      <h2>{said.used.replace("{month}", month)}</h2>
      <dl>
        <div>
          <dt>{said.issued}</dt>
          <dd>{count.format(issued)}</dd>
        </div>
        <div>
          <dt>{said.withdrawn}</dt>
          <dd>{count.format(withdrawn)}</dd>
        </div>
      </dl>
    </section>
  );
};

type Door = Awaited<ReturnType<typeof payable>>;

/** Why nobody who reads this is sent to pay. */
const barOf = ({ words }: PortalView, code: Exclude<Door, { readonly ok: true }>["code"]): string => {
  if (code === "owner_required") return words.ownersOnly;
  return code === "business_suspended" ? words.billing.byUs : words.billing.notSold;
};

interface Shown {
  readonly account: Pick<Account, "plan" | "status">;
  readonly used: Used;
  readonly door: Door;
}

const pageOf = (view: PortalView, { account: { plan, status }, used, door }: Shown, fault?: Fault): Page => {
  const { words } = view;
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
        {door.ok ? (
          <p>
            <a class="button" href={view.at("/portal/billing/checkout")}>
              {plan === "free" && status === "active" ? said.buy : said.manage}
            </a>
          </p>
        ) : (
          <p class="quiet">{barOf(view, door.code)}</p>
        )}
        {usageOf(view, used)}
      </>
    ),
  });
};

const shown = async (visit: Visit, fault?: Fault): Promise<Response> => {
  const { services, member, view } = visit;
  const { status } = member.business;
  if (status === "pending" || status === "closed") return answer(visit, closedPage(view), "business_inactive");
  const [account, used, door] = await Promise.all([
    readAccount(services, member),
    readUsage(services, member),
    payable(services, member, "business"),
  ]);
  return answer(visit, pageOf(view, { account, used, door }, fault), fault?.code);
};

/** Nothing changes here, but a page of another site could lead somebody to pay who did not mean to. */
const checkout = async (visit: Visit): Promise<Response> => {
  const { c, services, member, view } = visit;
  if (c.req.header("sec-fetch-site")?.toLowerCase() === "cross-site") return foreignFormPage(c);
  const full = await crowded(c, "CHECKOUT", member.business.id);
  if (full !== null) return full;
  const opened = await openPayment(services, member, "business");
  if (opened.ok) return c.redirect(opened.value, 303);
  const text = opened.code === "billing_unavailable" ? view.words.billing.away : barOf(view, opened.code);
  return shown(visit, { code: opened.code, field: null, text });
};

export const mountBilling = (pages: Hono<Api>): void => {
  pages.get(
    "/billing",
    reading((visit) => shown(visit), true),
  );
  pages.get("/billing/checkout", reading(checkout, true));
};
