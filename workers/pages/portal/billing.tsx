// The plan, its state, what was used of it by month, and the way to pay: a link, because a form could not lead to the payment provider's page.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { authorizeRead } from "../../../core/access/entitlement.ts";
import type { AppEnv } from "../../http/context.ts";
import { createPaymentSession } from "../../operations/billing/create-payment-session.ts";
import { getBilling } from "../../operations/billing/get-billing.ts";
import type { ChartPoint } from "../../../core/accounts/activity.ts";
import { getCertificateMonths } from "../../operations/portal/get-certificate-months.ts";
import type { BusinessAccount } from "../../../storage/business-profiles.ts";
import { renderCrossSiteBlocked } from "../shared/notice-pages.tsx";
import { formatMessage } from "../shared/components.tsx";
import { Chart, exportChart, sumFigures, type ChartDefinition } from "./chart.tsx";
import {
  language,
  LinkList,
  formatCount,
  PropertyList,
  StatusLabel,
  usePortalRequest,
  messages,
  FormErrorMessage,
  type Tone,
} from "./components.tsx";
import { inactiveAccountPage, renderMemberPage } from "./page.tsx";
import { checkAccountLimit } from "../shared/form-handlers.ts";
import { authenticatedAction, authenticatedPage, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const billingMessages = messages.billing;

const billingStatusTones: Readonly<Record<BusinessAccount["status"], Tone>> = {
  active: "good",
  past_due: "caution",
  suspended: "bad",
  pending: "plain",
  closed: "plain",
};

const monthlyCertificatesChart: ChartDefinition = {
  name: "certificate_months",
  unit: "month",
  csvHeader: ["month", "issued", "withdrawn"],
};

/** Of live certificates, in either mode: only they are paid for. */
const MonthlyUsage: FC<{ months: readonly ChartPoint[] }> = ({ months }) => {
  const now = months.at(-1) as ChartPoint;
  const month = new Intl.DateTimeFormat(language, { month: "long", year: "numeric", timeZone: "UTC" }).format(now.start);
  return (
    <Chart
      definition={monthlyCertificatesChart}
      exportPath={authorizeRead(usePortalRequest().member.business.status).ok ? "/portal/billing/export" : null}
      heading={billingMessages.months}
      trend={formatMessage(billingMessages.used, {
        month,
        issued: formatCount(now.up),
        withdrawn: formatCount(now.down),
        total: formatCount(sumFigures(months, "up")),
      })}
      figures={months}
      labels={{ start: messages.overview.month, up: messages.overview.issued, down: messages.overview.withdrawn }}
    />
  );
};

type PaymentAccess = Awaited<ReturnType<typeof getBilling>>["paymentAccess"];

/** Why nobody who reads this is sent to pay. */
const getPaymentRestriction = (code: Exclude<PaymentAccess, { readonly ok: true }>["code"]): string => {
  if (code === "owner_required") return messages.ownersOnly;
  return code === "business_suspended" ? billingMessages.byUs : billingMessages.notSold;
};

const renderBilling = async (visit: PortalRequest, fault?: FormError): Promise<Response> => {
  const { business } = visit.member;
  if (business.status === "pending" || business.status === "closed") return inactiveAccountPage(visit, "business_inactive");
  const { account, months, paymentAccess } = await getBilling(visit.services, visit.member);
  const { plan, status } = account;
  return renderMemberPage(visit, {
    tab: "billing",
    error: fault,
    content: (
      <>
        <FormErrorMessage />
        <PropertyList
          lines={[
            [billingMessages.plan, billingMessages.plans[plan]],
            [messages.state, <StatusLabel tone={billingStatusTones[status]} text={billingMessages.states[status]} />],
          ]}
        />
        <p>{billingMessages.means[status]}</p>
        <p>{billingMessages.covers[plan]}</p>
        {paymentAccess.ok ? (
          <LinkList
            class="button"
            to="/portal/billing/checkout"
            text={plan === "free" && status === "active" ? billingMessages.buy : billingMessages.manage}
          />
        ) : (
          <p class="quiet">{getPaymentRestriction(paymentAccess.code)}</p>
        )}
        <MonthlyUsage months={months} />
      </>
    ),
  });
};

/** Nothing changes here, but a page of another site could lead somebody to pay who did not mean to. */
const redirectToCheckout = async (visit: PortalRequest): Promise<Response> => {
  const { c, services, member } = visit;
  if (c.req.header("sec-fetch-site")?.toLowerCase() === "cross-site") return renderCrossSiteBlocked(c);
  const full = await checkAccountLimit(c, "CHECKOUT", member.business.id);
  if (full !== null) return full;
  const opened = await createPaymentSession(services, member, "business");
  if (opened.ok) return c.redirect(opened.value, 303);
  const text = opened.code === "billing_unavailable" ? billingMessages.away : getPaymentRestriction(opened.code);
  return renderBilling(visit, { code: opened.code, field: null, text });
};

const handleExportUsage = async (visit: PortalFormRequest): Promise<Response> =>
  exportChart({ ...visit, environment: "live" }, monthlyCertificatesChart, await getCertificateMonths(visit.services, visit.member));

export const registerBillingRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/billing", authenticatedPage(renderBilling, true));
  pages.post("/billing/export", authenticatedAction({ isReadOnly: true }, handleExportUsage));
  pages.get("/billing/checkout", authenticatedPage(redirectToCheckout, true));
};
