// The plan, its state, what was used of it by month, and the way to pay: a link, because a form could not lead to the payment provider's page.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { mayRead } from "../../../core/access/entitlement.ts";
import type { Api } from "../../http/context.ts";
import { openPayment, readBilling } from "../../operations/billing/checkout.ts";
import { readCertificateMonths, type Figures } from "../../operations/portal/overview.ts";
import type { Account } from "../../operations/portal/profile.ts";
import { foreignFormPage } from "../shared/notices.tsx";
import { filled } from "../shared/parts.tsx";
import { Chart, exportChart, totalOf, type ChartFile } from "./chart.tsx";
import { language, LinkLine, number, Properties, Status, useVisit, words, Wrong, type Tone } from "./parts.tsx";
import { closed, showPage } from "./page.tsx";
import { tooOften } from "../shared/own-form.ts";
import { acting, reading, type Fault, type Posted, type Visit } from "./visit.ts";

const said = words.billing;

const tones: Readonly<Record<Account["status"], Tone>> = {
  active: "good",
  past_due: "caution",
  suspended: "bad",
  pending: "plain",
  closed: "plain",
};

const chart: ChartFile = { name: "certificate_months", unit: "month", head: ["month", "issued", "withdrawn"] };

/** Of live certificates, in either mode: only they are paid for. */
const Used: FC<{ months: readonly Figures[] }> = ({ months }) => {
  const now = months.at(-1) as Figures;
  const month = new Intl.DateTimeFormat(language, { month: "long", year: "numeric", timeZone: "UTC" }).format(now.start);
  return (
    <Chart
      file={chart}
      exports={mayRead(useVisit().member.business.status).ok ? "/portal/billing/export" : null}
      heading={said.months}
      trend={filled(said.used, { month, issued: number(now.up), withdrawn: number(now.down), total: number(totalOf(months, "up")) })}
      figures={months}
      labels={{ start: words.overview.month, up: words.overview.issued, down: words.overview.withdrawn }}
    />
  );
};

type Door = Awaited<ReturnType<typeof readBilling>>["door"];

/** Why nobody who reads this is sent to pay. */
const barOf = (code: Exclude<Door, { readonly ok: true }>["code"]): string => {
  if (code === "owner_required") return words.ownersOnly;
  return code === "business_suspended" ? said.byUs : said.notSold;
};

const show = async (visit: Visit, fault?: Fault): Promise<Response> => {
  const { business } = visit.member;
  if (business.status === "pending" || business.status === "closed") return closed(visit, "business_inactive");
  const { account, months, door } = await readBilling(visit.services, visit.member);
  const { plan, status } = account;
  return showPage(visit, {
    tab: "billing",
    fault,
    content: (
      <>
        <Wrong />
        <Properties
          lines={[
            [said.plan, said.plans[plan]],
            [words.state, <Status tone={tones[status]} text={said.states[status]} />],
          ]}
        />
        <p>{said.means[status]}</p>
        <p>{said.covers[plan]}</p>
        {door.ok ? (
          <LinkLine class="button" to="/portal/billing/checkout" text={plan === "free" && status === "active" ? said.buy : said.manage} />
        ) : (
          <p class="quiet">{barOf(door.code)}</p>
        )}
        <Used months={months} />
      </>
    ),
  });
};

/** Nothing changes here, but a page of another site could lead somebody to pay who did not mean to. */
const checkout = async (visit: Visit): Promise<Response> => {
  const { c, services, member } = visit;
  if (c.req.header("sec-fetch-site")?.toLowerCase() === "cross-site") return foreignFormPage(c);
  const full = await tooOften(c, "CHECKOUT", member.business.id);
  if (full !== null) return full;
  const opened = await openPayment(services, member, "business");
  if (opened.ok) return c.redirect(opened.value, 303);
  const text = opened.code === "billing_unavailable" ? said.away : barOf(opened.code);
  return show(visit, { code: opened.code, field: null, text });
};

const exportMonths = async (visit: Posted): Promise<Response> =>
  exportChart({ ...visit, environment: "live" }, chart, await readCertificateMonths(visit.services, visit.member));

export const mountBilling = (pages: Hono<Api>): void => {
  pages.get("/billing", reading(show, true));
  pages.post("/billing/export", acting({ reads: true }, exportMonths));
  pages.get("/billing/checkout", reading(checkout, true));
};
