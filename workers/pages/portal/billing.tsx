// The plan, its state, what was used of it by month, and the way to pay: a link, because a form could not lead to the payment provider's page.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { mayRead } from "../../../core/access/entitlement.ts";
import type { Api } from "../../http/context.ts";
import { openPayment, readBilling } from "../../operations/billing/checkout.ts";
import { readCertificateMonths, type Figures } from "../../operations/portal/overview.ts";
import type { Account } from "../../operations/portal/profile.ts";
import type { Page } from "../shared/layout.tsx";
import { foreignFormPage } from "../shared/notices.tsx";
import { filled, numberText } from "../shared/parts.tsx";
import { Chart, exportChart, totalOf, type ChartFile } from "./chart.tsx";
import { closed } from "./page.tsx";
import { portalPage, Status, Wrong, type PortalView, type Tone } from "./parts.tsx";
import { acting, answer, crowded, reading, type Fault, type Posted, type Visit } from "./visit.ts";

const tones: Readonly<Record<Account["status"], Tone>> = {
  active: "good",
  past_due: "caution",
  suspended: "bad",
  pending: "plain",
  closed: "plain",
};

const chart: ChartFile = { name: "certificate_months", unit: "month", head: ["month", "issued", "withdrawn"] };

/** Of live certificates, in either mode: only they are paid for. */
const Used: FC<{ view: PortalView; months: readonly Figures[] }> = ({ view, months }) => {
  const { words, setting, member } = view;
  const { billing: said, overview } = words;
  const number = (value: number): string => numberText(value, setting.language);
  const now = months.at(-1) as Figures;
  const month = new Intl.DateTimeFormat(setting.language, { month: "long", year: "numeric", timeZone: "UTC" }).format(now.start);
  return (
    <Chart
      view={view}
      file={chart}
      exports={mayRead(member.business.status).ok ? "/portal/billing/export" : null}
      heading={said.months}
      trend={filled(said.used, { month, issued: number(now.up), withdrawn: number(now.down), total: number(totalOf(months, "up")) })}
      figures={months}
      labels={{ start: overview.month, up: overview.issued, down: overview.withdrawn }}
    />
  );
};

type Shown = Awaited<ReturnType<typeof readBilling>>;

/** Why nobody who reads this is sent to pay. */
const barOf = ({ words }: PortalView, code: Exclude<Shown["door"], { readonly ok: true }>["code"]): string => {
  if (code === "owner_required") return words.ownersOnly;
  return code === "business_suspended" ? words.billing.byUs : words.billing.notSold;
};

const pageOf = (view: PortalView, { account: { plan, status }, months, door }: Shown, fault?: Fault): Page => {
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
        <Used view={view} months={months} />
      </>
    ),
  });
};

const shown = async (visit: Visit, fault?: Fault): Promise<Response> => {
  const { services, member, view } = visit;
  const { status } = member.business;
  if (status === "pending" || status === "closed") return closed(visit, "business_inactive");
  return answer(visit, pageOf(view, await readBilling(services, member), fault), fault?.code);
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

const exportMonths = async (visit: Posted): Promise<Response> => {
  const figures = await readCertificateMonths(visit.services, visit.member);
  return exportChart(visit, chart, { figures, environment: "live" });
};

export const mountBilling = (pages: Hono<Api>): void => {
  pages.get(
    "/billing",
    reading((visit) => shown(visit), true),
  );
  pages.post("/billing/export", acting({ reads: true }, exportMonths));
  pages.get("/billing/checkout", reading(checkout, true));
};
