// Tests the pages that emails link to. A signed-in owner or person can open each of them.
import { expect, test } from "vitest";
import { renderMail } from "../../core/mail/render.ts";
import type { TemplatedMail } from "../../core/mail/templates.ts";
import { signUpBusiness } from "../support/portal.ts";
import { openPage, submitForm } from "../support/portal-pages.ts";
import { sampleMails } from "../support/sample-mails.ts";
import { grantShare, signInPerson } from "../support/sharing.ts";
import type { TestResponse } from "../support/world.ts";

const linkOf = (mail: TemplatedMail): string => {
  const line = renderMail("en", mail, { appUrl: "", supportEmail: null }).lines.find(({ kind }) => kind === "action");
  return line?.kind === "action" ? line.link : "no link";
};

const expectPage = async (link: string, place: RegExp, open: (path: string) => Promise<TestResponse>): Promise<void> => {
  expect(link).toMatch(place);
  const { status, text } = await open(link);
  expect([status, text.includes("/sign-out"), text.includes('/sign-in"')], link).toEqual([200, true, false]);
};

test("an owner reaches the page of every email to owners", async () => {
  const owner = await signUpBusiness("owner@mail-links.example");
  const url = "https://hooks.merchant-tests.com/in";
  const created = await submitForm(owner, "/portal/webhooks/new", "/portal/webhooks", { url });
  const webhookId = /whk_[0-9a-z]{26}/.exec(`${created.headers.get("location")} ${created.text}`)?.[0] as string;
  const { domain_missing, domain_lapsed, withdrawal_owner_notice, entities_owner_notice, share_owner_notice, client_limit_near } =
    sampleMails;
  const { owner_digest } = sampleMails;
  const failing = { template: "webhook_failing", data: { webhookId, failingSince: 0, failures: 100 } } as const;
  const notices = [
    domain_missing,
    domain_lapsed,
    withdrawal_owner_notice,
    entities_owner_notice,
    share_owner_notice,
    client_limit_near,
    failing,
  ];
  const digests = notices.map(({ template: kind }) => ({ ...owner_digest, data: { ...owner_digest.data, kind } }));
  for (const mail of [...notices, ...digests]) await expectPage(linkOf(mail), /^\/portal\//, (path) => openPage(owner, path));
});

test("a person reaches the page of every email about an account or a share", async () => {
  const person = await signInPerson();
  const { share } = await grantShare(person);
  const data = { shareId: share.id, businessName: "Acme Solar LLC", at: 0, ceaseBy: 0 };
  for (const mail of [
    sampleMails.passkey_added,
    sampleMails.agent_changed,
    { template: "account_withdrawal_confirmation", data: { business: null, withdrawnAt: 0, ceaseBy: 0 } },
    {
      template: "account_withdrawal_confirmation",
      data: { business: { id: share.business.id, businessName: "", contact: null, mailingAddress: null }, withdrawnAt: 0, ceaseBy: 0 },
    },
    { template: "share_ceased", data: { ...data, note: null } },
    { template: "share_overdue", data: { ...data, contact: null } },
  ] as const)
    await expectPage(linkOf(mail), /^\/app/, person.get);
});
