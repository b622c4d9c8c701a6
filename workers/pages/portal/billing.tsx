// The plan, the billing status, the monthly usage, and a link to the payment provider. A form would not work, because the content security
// policy does not let it redirect there.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { authorizeRead } from "../../../core/access/entitlement.ts";
import type { AppEnv } from "../../http/context.ts";
import { createPaymentSession } from "../../operations/billing/create-payment-session.ts";
import { getBilling } from "../../operations/billing/get-billing.ts";
import { hasSubscription } from "../../operations/billing/payment-access.ts";
import type { ChartPoint } from "../../../core/accounts/activity.ts";
import { getCertificateMonths } from "../../operations/portal/get-certificate-months.ts";
import type { BusinessAccount } from "../../../storage/business-profiles.ts";
import { renderCrossSiteBlocked } from "../shared/notice-pages.tsx";
import { formatMessage, Icon, PropertyList } from "../shared/components.tsx";
import { Chart, exportChart, sumFigures, type ChartDefinition } from "./chart.tsx";
import {
  BusinessStatusLabel,
  Card,
  checkoutPath,
  formatCount,
  language,
  Link,
  StatusLabel,
  usePortalRequest,
  messages,
  FormErrorMessage,
  SupportSentence,
} from "./components.tsx";
import { inactiveAccountPage, renderMemberPage } from "./page.tsx";
import { checkAccountLimit } from "../shared/form-handlers.ts";
import { authenticatedAction, authenticatedPage } from "./handlers.ts";
import type { FormError, PortalFormRequest, PortalRequest } from "./portal-request.ts";

const billingMessages = messages.billing;

const monthlyCertificatesChart: ChartDefinition = {
  name: "certificate_months",
  unit: "month",
  csvHeader: ["month", "issued", "withdrawn"],
};

/** Shows only live certificates, even in test mode, because only live certificates are billed. */
const MonthlyUsage: FC<{ months: readonly ChartPoint[] }> = ({ months }) => (
  <Chart
    definition={monthlyCertificatesChart}
    exportPath={authorizeRead(usePortalRequest().member.business.status).ok ? "/portal/billing/export" : null}
    heading={billingMessages.months}
    figures={months}
    labels={{ start: messages.overview.month, up: messages.overview.issued, down: messages.overview.withdrawn }}
  />
);

const UsageTotals: FC<{ months: readonly ChartPoint[] }> = ({ months }) => {
  const { soFar, counts, year } = billingMessages.used;
  const current = months.at(-1) as ChartPoint;
  const month = new Intl.DateTimeFormat(language, { month: "long", year: "numeric", timeZone: "UTC" }).format(current.start);
  const formatCounts = (part: readonly ChartPoint[]): string =>
    formatMessage(counts, { issued: formatCount(sumFigures(part, "up")), withdrawn: formatCount(sumFigures(part, "down")) });
  return (
    <PropertyList
      lines={[
        [formatMessage(soFar, { month }), formatCounts([current])],
        [year, formatCounts(months)],
      ]}
    />
  );
};

type PaymentAccess = Awaited<ReturnType<typeof getBilling>>["paymentAccess"];

type PaymentRestriction = Exclude<PaymentAccess, { readonly ok: true }>["code"];

const getPaymentRestriction = (code: PaymentRestriction): string => {
  if (code === "owner_required") return messages.ownersOnly;
  return code === "business_suspended" ? billingMessages.byUs : billingMessages.notSold;
};

/** Says why the member cannot open the provider's page, and whom to ask instead. */
const PaymentRestrictionNote: FC<{ code: PaymentRestriction }> = ({ code }) => (
  <span>
    {getPaymentRestriction(code)}
    {code !== "owner_required" && (
      <SupportSentence text={code === "business_suspended" ? messages.support.reason : messages.support.plan} />
    )}
  </span>
);

/**
 * Returns true if the Enterprise plan is not paid through the provider. Such a business must not be led to the provider, where it could
 * only buy the Business plan. That plan would replace its own, and its forms would no longer get certificates.
 */
const isPaidByAgreement = (plan: BusinessAccount["plan"], access: PaymentAccess): boolean =>
  plan === "enterprise" && access.ok && (access.value === null || !hasSubscription(access.value));

const PlansCard: FC<{ current: BusinessAccount["plan"] }> = ({ current }) => (
  <Card id="plans" title={billingMessages.compare} isFlush>
    <ul class="lines">
      {(["free", "business", "enterprise"] as const).map((plan) => (
        <li>
          <Icon name="credit-card" class="quiet" />
          <div>
            <strong>{billingMessages.plans[plan]}</strong>
            <small class="quiet">
              {billingMessages.covers[plan]}
              {plan === "enterprise" && current !== plan && <SupportSentence text={messages.support.enterprise} />}
            </small>
          </div>
          {plan === current && <StatusLabel tone="good" icon="check" text={billingMessages.current} />}
        </li>
      ))}
    </ul>
  </Card>
);

const renderBilling = async (request: PortalRequest, error?: FormError): Promise<Response> => {
  const { business } = request.member;
  if (business.status === "pending" || business.status === "closed") return inactiveAccountPage(request, "business_inactive");
  const { account, months, paymentAccess } = await getBilling(request.services, request.member);
  const { plan, status } = account;
  const canBuy = plan === "free" && status === "active";
  return renderMemberPage(request, {
    tab: "billing",
    ...(!authorizeRead(status).ok && { hidesNavigation: true }),
    error,
    intro: billingMessages.intro,
    content: (
      <>
        <FormErrorMessage />
        <div class="cols two even">
          <Card
            id="plan"
            title={billingMessages.plan}
            end={<BusinessStatusLabel status={status} />}
            footer={
              isPaidByAgreement(plan, paymentAccess) ? (
                <PaymentRestrictionNote code="not_found" />
              ) : paymentAccess.ok ? (
                <>
                  <span>{billingMessages.leaves}</span>
                  <Link
                    class={status === "past_due" ? "btn" : "btn primary"}
                    to={checkoutPath}
                    text={canBuy ? billingMessages.buy : billingMessages.manage}
                  />
                </>
              ) : (
                <PaymentRestrictionNote code={paymentAccess.code} />
              )
            }
          >
            <p class="figure">{billingMessages.plans[plan]}</p>
            <p>{billingMessages.means[status]}</p>
            <UsageTotals months={months} />
          </Card>
          <PlansCard current={plan} />
        </div>
        {months.some(({ up, down }) => up + down > 0) && <MonthlyUsage months={months} />}
      </>
    ),
  });
};

/** Refuses links from other sites, because such a link could trick members into paying. */
const redirectToCheckout = async (request: PortalRequest): Promise<Response> => {
  const { c, services, member } = request;
  if (c.req.header("sec-fetch-site")?.toLowerCase() === "cross-site") return renderCrossSiteBlocked(c);
  // Other members are refused below. If their requests counted toward the business's limit, they could keep the owners from paying.
  const limitResponse = member.role === "owner" ? await checkAccountLimit(c, "CHECKOUT", member.business.id) : null;
  if (limitResponse !== null) return limitResponse;
  const payment = await createPaymentSession(services, member, "business");
  if (payment.ok) return c.redirect(payment.value, 303);
  const text = payment.code === "billing_unavailable" ? billingMessages.away : getPaymentRestriction(payment.code);
  return renderBilling(request, { code: payment.code, field: null, text });
};

const handleExportUsage = async (request: PortalFormRequest): Promise<Response> =>
  exportChart({ ...request, environment: "live" }, monthlyCertificatesChart, await getCertificateMonths(request.services, request.member));

export const registerBillingRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/billing", authenticatedPage(renderBilling, true));
  pages.post("/billing/export", authenticatedAction({ isReadOnly: true }, handleExportUsage));
  pages.get("/billing/checkout", authenticatedPage(redirectToCheckout, true));
};
