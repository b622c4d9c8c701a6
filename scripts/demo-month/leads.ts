// The fictional people who submit forms to the demo business, and the forms themselves.
import type { JsonObject } from "../../core/canonical-json.ts";
import type { CaptureContext, Submission } from "../../core/certificates/certificate.ts";
import { secondMs, toIso, type Instant } from "../../core/time.ts";
import type { Dice } from "./random.ts";

export const siteOrigin = "https://www.acme-solar.example";

const consentEnd = "at the number and address above. Consent is not a condition of purchase.";

interface Form {
  readonly path: string;
  readonly purpose: string;
  readonly recipients: readonly string[];
  readonly disclosure: string;
  /** True if the form has a separate box for each recipient. */
  readonly asksEach: boolean;
  /** Out of twenty people, the number who use this form. */
  readonly share: number;
}

const forms: readonly Form[] = [
  {
    path: "/quote",
    purpose: "Solar quote follow-up",
    recipients: ["Acme Solar LLC", "Bright Homes Inc"],
    disclosure: `I agree that Acme Solar LLC and Bright Homes Inc may call, text or email me about solar quotes ${consentEnd}`,
    asksEach: false,
    share: 9,
  },
  {
    path: "/compare",
    purpose: "Compare solar installers",
    recipients: ["Acme Solar LLC", "Bright Homes Inc", "Harbor Electric LLC", "Sunline Roofing Co"],
    disclosure: `By clicking "Compare offers", I agree that each company I selected may call, text or email me about solar offers ${consentEnd}`,
    asksEach: true,
    share: 5,
  },
  {
    path: "/battery",
    purpose: "Home battery consultation",
    recipients: ["Acme Solar LLC"],
    disclosure: `I agree that Acme Solar LLC may call, text or email me about home batteries ${consentEnd}`,
    asksEach: false,
    share: 4,
  },
  {
    path: "/guide",
    purpose: "Solar buyer's guide by email",
    recipients: ["Acme Solar LLC"],
    disclosure: "I agree that Acme Solar LLC may email me the solar buyer's guide and follow up by email. I can unsubscribe at any time.",
    asksEach: false,
    share: 2,
  },
];

const firstNames =
  "Maria James Aisha Daniel Sofia Marcus Emily Wei Olivia Rafael Grace Henry Nadia Lucas Chloe Samuel Leila Victor Hannah Andre Julia Omar Megan Kenji Rosa Tyler Ingrid Malik Paula Ethan".split(
    " ",
  );
const lastNames =
  "Alvarez Bennett Chen Dawson Ellison Fischer Garcia Hughes Ibrahim Jensen Kaplan Lindqvist Moreno Nakamura Okafor Patel Quinn Rossi Schmidt Thompson Ueda Vargas Whitaker Young Zimmerman".split(
    " ",
  );
const mailHosts = ["mail.example", "inbox.example", "post.example"];

const cities = [
  { city: "Sacramento", region: "California", zip: "95814", areaCode: "916" },
  { city: "San Diego", region: "California", zip: "92101", areaCode: "619" },
  { city: "Phoenix", region: "Arizona", zip: "85004", areaCode: "602" },
  { city: "Austin", region: "Texas", zip: "78701", areaCode: "512" },
  { city: "Denver", region: "Colorado", zip: "80202", areaCode: "303" },
  { city: "Tampa", region: "Florida", zip: "33602", areaCode: "813" },
] as const;

const userAgents = [
  "Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.1 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.1 Safari/605.1.15",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0",
];

const referrers = ["https://search.example/", "https://www.social.example/", "https://news.example/solar-rebates", null];

/** Picks an IP address from a block that is reserved for documentation (RFC 5737) and never used on the internet. */
const pickAddress = ({ roll, pick }: Dice): string => `${pick(["192.0.2", "198.51.100", "203.0.113"])}.${1 + Math.floor(roll() * 254)}`;

export const pickVisitor = (dice: Dice): { readonly ip: string; readonly userAgent: string } => ({
  ip: pickAddress(dice),
  userAgent: dice.pick(userAgents),
});

export interface Lead {
  readonly at: Instant;
  readonly form: Form;
  readonly submission: Submission;
  readonly circumstances: CaptureContext;
}

/** Picks the recipients that the person accepts on a form with one box per recipient. Some people accept none and still submit the form. */
const pickAccepted = ({ recipients }: Form, { roll }: Dice): readonly string[] =>
  roll() < 0.06 ? [] : recipients.filter((_, at) => at === 0 || roll() < 0.55);

/** Creates a person who submits a form at this time. `formPath` chooses the form; if it is null, the form is chosen at random. */
export const createLead = (at: Instant, dice: Dice, formPath: string | null = null): Lead => {
  const { roll, pick } = dice;
  const form = forms.find(({ path }) => path === formPath) ?? pick(forms.flatMap((one) => Array.from({ length: one.share }, () => one)));
  const [first, last, home] = [pick(firstNames), pick(lastNames), pick(cities)];
  const email = `${first}.${last}@${pick(mailHosts)}`.toLowerCase();
  const phone = `(${home.areaCode}) 555-01${String(Math.floor(roll() * 100)).padStart(2, "0")}`;
  const named = { first_name: first, last_name: last, email };
  const fields = form.path === "/guide" ? { first_name: first, email } : { ...named, phone, zip: home.zip };
  const accepted = form.asksEach ? pickAccepted(form, dice) : undefined;
  const referrer = pick(referrers);
  const campaign = roll() < 0.3 ? "?utm_source=newsletter&utm_campaign=fall" : "";
  const extras: JsonObject = {
    locale: "en-US",
    presentation: {
      opt_in_type: "manual",
      font_px: 14,
      contrast_ratio: 7.4,
      visible: true,
      checkbox_name: form.asksEach ? "recipient" : "agree",
    },
    client_time: toIso(at - Math.floor(roll() * 2 * secondMs)),
    ...(referrer !== null && { referrer }),
  };
  return {
    at,
    form,
    submission: {
      fields,
      disclosureText: form.disclosure,
      entities: form.recipients,
      entitiesAccepted: accepted,
      entitiesRejected: accepted === undefined ? undefined : form.recipients.filter((name) => !accepted.includes(name)),
      purpose: form.purpose,
      pageUrl: `${siteOrigin}${form.path}${campaign}`,
      extras,
      isTruncated: false,
    },
    circumstances: {
      ...pickVisitor(dice),
      gpc: roll() < 0.05,
      capturedVia: "browser",
      geo: { country: "US", region: home.region, city: home.city },
    },
  };
};
