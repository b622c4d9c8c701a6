// `npm run demo`: issues a certificate through the public API of the running service, as the demo business.
import { getDemoCredentials, createDemoWorld, getExampleOwnerEmail, type DemoBusiness } from "./demo-world.ts";
import { parseOptions } from "./parse-options.ts";
import { ensureDevVars, loadLocalSettings } from "./settings.ts";

interface Receipt {
  readonly ok: boolean;
  readonly data?: { readonly cert_id: string; readonly verify_url: string; readonly manage_url: string };
  readonly error?: { readonly code: string; readonly message: string };
}

const credentials = (business: DemoBusiness): { client_id: string; api_key: string } => ({
  client_id: business.clients.live,
  api_key: business.keys.live,
});

const usage = `npm run demo              Issue a certificate as the demo business of the running service.
npm run demo -- --json    Also print all URLs, email addresses and credentials of the demo as one JSON object.
Uses PORT from the environment, like npm start.`;

const options = parseOptions({ json: { type: "boolean", default: false }, help: { type: "boolean", default: false } }, usage);
if (options.help) {
  console.log(usage);
  process.exit(0);
}

ensureDevVars();
const settings = loadLocalSettings();
const world = createDemoWorld(settings.vars.ISSUER_KEY as string);

const refuseWithoutService = (): never => {
  console.error(`No service is running at ${settings.origin}. Start it first: npm start`);
  process.exit(1);
};

// Asks the running service for the URL of its demo site, because DEMO_PORT may have a different value here than it had for npm start.
const home = await fetch(settings.origin, { headers: { accept: "application/json" } }).catch(refuseWithoutService);
const { data: addresses } = (await home.json().catch(refuseWithoutService)) as {
  readonly data?: { readonly demo?: { readonly site_base: string } };
};
const demoOrigin = addresses?.demo?.site_base ?? refuseWithoutService();

const response = await fetch(`${settings.origin}/v1/consent`, {
  method: "POST",
  headers: { "content-type": "application/json", origin: demoOrigin },
  body: JSON.stringify({
    client_id: world.acme.clients.live,
    fields: { email: world.consumerEmail, first_name: "Pat", phone: "+1 202 555 0123" },
    disclosure_text:
      "By clicking Send I agree that Acme Solar LLC and Bright Homes Inc may call or email me about solar quotes. Consent is not a condition of purchase.",
    entities: ["Acme Solar LLC", "Bright Homes Inc"],
    purpose: "solar quote follow-up",
    page_url: `${demoOrigin}/`,
  }),
}).catch(refuseWithoutService);
const { data, error } = (await response.json().catch(refuseWithoutService)) as Receipt;
if (data === undefined) {
  console.error(`The service refused the submission: ${error?.code}: ${error?.message}`);
  process.exit(1);
}

if (options.json) {
  console.log(
    JSON.stringify({
      api_base: `${settings.origin}/v1`,
      verify_base: settings.origin,
      cdn_base: settings.origin,
      mcp_url: `${settings.origin}/mcp`,
      app_base: settings.origin,
      site_base: demoOrigin,
      ...getDemoCredentials(world),
      member_email: world.memberEmail,
      consumer_email: world.consumerEmail,
      other_business: { ...credentials(world.other), business_id: world.other.id, owner_email: world.otherOwnerEmail },
      cert_id: data.cert_id,
      verify_url: data.verify_url,
      examples: Object.fromEntries(
        Object.entries(world.examples).map(([name, business]) => [
          name,
          { ...credentials(business), owner_email: getExampleOwnerEmail(name) },
        ]),
      ),
    }),
  );
} else {
  console.log(`Issued ${data.cert_id}
  Public page           ${data.verify_url}
  JSON                  ${settings.origin}/v1/certs/${data.cert_id}/verify
  Withdrawal link       ${data.manage_url}   (for the person only)`);
}
